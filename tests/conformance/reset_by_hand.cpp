// reset puts a degraded unit back into service; on a healthy one it does nothing.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(reset_by_hand) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .watchdog = kWatchdog});
  const uint32_t generation = unit.generation();
  EXPECT_STATUS(unit.reset(), kOk);
  EXPECT_EQ(unit.generation(), generation);
  starts.hold(next_id(unit));
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kHung);
  EXPECT_STATUS(unit.submit(model(), args(1)).status(), kUnitDegraded);
  // The thread that hangs is no obstacle.
  EXPECT_STATUS(unit.reset(), kOk);
  EXPECT_EQ(unit.generation(), generation + 1);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
  starts.release();
  unit.close();
  EXPECT_STATUS(unit.reset(), kClosed);
}

}  // namespace
}  // namespace millrace::conformance
