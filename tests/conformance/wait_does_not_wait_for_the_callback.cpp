// A wait that returns says nothing about the callback of the same job.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/support/gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_does_not_wait_for_the_callback) {
  CallbackLog log;
  test::TaskGate gate;
  Unit unit = make_unit();
  JobArgs slow = args();
  slow.callback = [&](JobId id, const Status& status) {
    gate.pass();
    log.add(id, status);
  };
  Job job = submit(unit, slow);
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_TRUE(log.ids().empty());
  gate.open();
  EXPECT_TRUE(log.await(1));
}

}  // namespace
}  // namespace millrace::conformance
