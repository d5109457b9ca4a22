// A hung thread that cannot be replaced costs its lane: the unit degrades, the other lanes serve.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/support/thread_refusal.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_thread_for_a_replacement) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .watchdog = kWatchdog, .auto_reset = true});
  Unit other = make_unit();
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  starts.hold(next_id(unit));
  Job hung, behind;
  {
    const test::ThreadRefusal refusal;
    hung = submit(unit, 0);
    behind = submit(unit, 1);
    EXPECT_STATUS(hung.wait(kPatience), kHung);
    EXPECT_STATUS(behind.wait(kPatience), kUnitDegraded);
    EXPECT_EQ(unit.state(), UnitState::kDegraded);
    EXPECT_EQ(device().lanes(), kLanes - 1);
    EXPECT_STATUS(submit(other, 2).wait(kPatience), kOk);
  }
  starts.release();
  EXPECT_TRUE(eventually([&] { return device().lanes() == kLanes; }));
  EXPECT_STATUS(unit.reset(), kOk);
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
