// WhenFull::kFail: a full unit refuses a job, and nothing changes.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_fails) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2, .when_full = WhenFull::kFail});
  Job first = submit(unit, 0), second = submit(unit, 1);
  JobArgs refused = args(2);
  refused.callback = log.callback();
  EXPECT_STATUS(unit.submit(model(), refused).status(), kQueueFull);
  EXPECT_EQ(unit.in_flight(), 2u);
  EXPECT_EQ(unit.last_submitted(), second.id());
  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_STATUS(submit(unit, 2).wait(kPatience), kOk);
  unit.close();
  EXPECT_TRUE(log.ids().empty());
}

}  // namespace
}  // namespace millrace::conformance
