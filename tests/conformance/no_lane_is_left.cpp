// When every lane hangs, whatever needs one fails instead of waiting; lanes that come back serve
// again.
#include <deque>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_lane_is_left) {
  constexpr size_t kHangs = 4 + kLanes;
  HookGate starts;
  std::deque<Unit> units;
  Unit bystander = make_unit();
  for (size_t i = 0; i < kHangs; ++i) {
    // The last one runs a job again in the end.
    const auto watchdog = i + 1 < kHangs ? kShortWatchdog : kWatchdog;
    units.push_back(make_unit({.depth = 2, .watchdog = watchdog, .auto_reset = true}));
    starts.hold(next_id(units.back()));
    EXPECT_STATUS(submit(units.back(), 1 + i).wait(kPatience), kHung);
  }
  EXPECT_EQ(device().lanes(), 0u);
  EXPECT_STATUS(device().create_unit().status(), kNoLane);
  EXPECT_STATUS(units.back().reset(), kNoLane);
  Job stranded = submit(bystander, 0);
  EXPECT_STATUS(stranded.wait(kPatience), kUnitDegraded);
  EXPECT_EQ(bystander.state(), UnitState::kDegraded);
  starts.release();
  EXPECT_TRUE(eventually([&] { return device().lanes() == kLanes; }));
  for (Unit* unit : {&bystander, &units.back()}) {
    EXPECT_STATUS(unit->reset(), kOk);
    EXPECT_STATUS(submit(*unit, 0).wait(kPatience), kOk);
  }
}

}  // namespace
}  // namespace millrace::conformance
