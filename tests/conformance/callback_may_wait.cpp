// A callback may submit and wait for other jobs, of its unit or another.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callback_may_wait) {
  CallbackLog log;
  Unit unit = make_unit({.depth = 2}), other = make_unit({.depth = 2});
  JobArgs job = args(0);
  job.callback = [&](JobId id, const Status&) {
    Job same = submit(unit, 1), different = submit(other, 2);
    Job* const both[] = {&same, &different};
    EXPECT_STATUS(wait_all(both, kPatience), kOk);
    EXPECT_STATUS(same.wait(kPatience), kOk);
    EXPECT_STATUS(other.execute(model(), args(3)), kOk);
    log.add(id, different.wait(kPatience));
  };
  Job first = submit(unit, job);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kOk);
  EXPECT_STATUS(first.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
