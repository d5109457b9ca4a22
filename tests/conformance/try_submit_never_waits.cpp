// try_submit neither waits for a free place nor drops a job to get one, whatever the unit's policy.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(try_submit_never_waits) {
  LaneBlocker lanes(device_name());
  for (const WhenFull policy :
       {WhenFull::kFail, WhenFull::kBlock, WhenFull::kDropOldest, WhenFull::kShedByDeadline}) {
    Unit unit = make_unit({.depth = 1, .when_full = policy});
    Job job = unit.try_submit(model(), args(0)).value();
    EXPECT_STATUS(unit.try_submit(model(), args(1)).status(), kQueueFull);
    EXPECT_EQ(unit.in_flight(), 1u);
    EXPECT_FALSE(job.is_completed());
    unit.close();
    EXPECT_STATUS(job.wait(kPatience), kCancelled);
  }
}

}  // namespace
}  // namespace millrace::conformance
