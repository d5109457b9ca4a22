// A callback may submit the next job.
#include <atomic>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callback_may_submit) {
  constexpr size_t kJobs = 50;
  CallbackLog log;
  Unit unit = make_unit({.depth = 1});
  JobArgs next = args();
  next.callback = [&](JobId id, const Status& status) {
    if (log.ids().size() + 1 < kJobs) submit(unit, next).detach();
    log.add(id, status);
  };
  submit(unit, next).detach();
  EXPECT_TRUE(log.await(kJobs));
  unit.close();
  EXPECT_EQ(log.ids().size(), kJobs);
}

}  // namespace
}  // namespace millrace::conformance
