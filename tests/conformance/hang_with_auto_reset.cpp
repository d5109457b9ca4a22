// With auto_reset the unit goes on: the jobs behind a hung one run in order, it runs never again.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(hang_with_auto_reset) {
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .watchdog = kWatchdog, .auto_reset = true});
  const uint32_t generation = unit.generation();
  starts.hold(next_id(unit));
  Job hung = submit(unit, 0);
  Job second = submit(unit, 1), third = submit(unit, 2);
  const std::vector<JobId> ids = {hung.id(), second.id(), third.id()};
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_STATUS(third.wait(kPatience), kOk);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_EQ(unit.generation(), generation + 1);
  EXPECT_EQ(device().lanes(), kLanes);
  starts.release();
  EXPECT_STATUS(submit(unit, 3).wait(kPatience), kOk);
  std::vector<JobId> started = starts.ids();
  started.resize(3);
  EXPECT_EQ(started, ids);
  expect_computed({1, 2});
}

}  // namespace
}  // namespace millrace::conformance
