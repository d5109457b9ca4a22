// The watchdog minds progress, not age: time in the queue does not count.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(age_is_not_a_hang) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 3, .watchdog = kWatchdog});
  Job first = submit(unit, 0), second = submit(unit, 1);
  std::this_thread::sleep_for(kWatchdog * 3 / 2);
  EXPECT_FALSE(first.is_completed() || second.is_completed());
  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
}

}  // namespace
}  // namespace millrace::conformance
