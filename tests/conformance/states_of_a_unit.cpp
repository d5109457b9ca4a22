// A unit is healthy, resetting while a hung job is given up, degraded until it is reset.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(states_of_a_unit) {
  HookGate starts, ends(HookPoint::kCompleted);
  Unit unit = make_unit({.depth = 4, .watchdog = kWatchdog, .auto_reset = true});
  Unit strict = make_unit({.depth = 4, .watchdog = kWatchdog});
  EXPECT_EQ(unit.state(), UnitState::kHealthy);

  starts.hold(next_id(unit));
  ends.hold(next_id(unit));
  Job hung = submit(unit, 0);
  EXPECT_TRUE(ends.await(hung.id()));
  EXPECT_EQ(unit.state(), UnitState::kResetting);
  ends.release();
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  EXPECT_TRUE(eventually([&] { return unit.state() == UnitState::kHealthy; }));
  EXPECT_STATUS(unit.failure(), kOk);

  starts.hold(next_id(strict));
  EXPECT_STATUS(submit(strict, 1).wait(kPatience), kHung);
  EXPECT_EQ(strict.state(), UnitState::kDegraded);
  EXPECT_STATUS(strict.failure(), kUnitDegraded);
  EXPECT_STATUS(strict.reset(), kOk);
  EXPECT_EQ(strict.state(), UnitState::kHealthy);
  EXPECT_STATUS(strict.failure(), kOk);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
