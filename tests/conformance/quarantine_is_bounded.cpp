// At most four hung threads are replaced; the next hang degrades its unit even with auto_reset.
#include <deque>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(quarantine_is_bounded) {
  constexpr size_t kReplaced = 4;
  HookGate starts;
  std::deque<Unit> units;
  const auto hang_one = [&](std::chrono::nanoseconds watchdog) {
    units.push_back(make_unit({.depth = 2, .watchdog = watchdog, .auto_reset = true}));
    starts.hold(next_id(units.back()));
    EXPECT_STATUS(submit(units.back(), units.size()).wait(kPatience), kHung);
  };
  for (size_t i = 0; i < kReplaced; ++i) {
    hang_one(i == 0 ? kWatchdog : kShortWatchdog);  // the first one runs a job in the end
    EXPECT_TRUE(eventually([&] { return units.back().state() == UnitState::kHealthy; }));
    EXPECT_EQ(device().lanes(), kLanes);
  }
  hang_one(kWatchdog);
  EXPECT_EQ(units.back().state(), UnitState::kDegraded);
  EXPECT_STATUS(units.back().submit(model(), args(0)).status(), kUnitDegraded);
  EXPECT_EQ(device().lanes(), kLanes - 1);
  // The lane that is left serves the other units, and this one once it is reset.
  EXPECT_STATUS(units.front().execute(model(), args(0)), kOk);
  EXPECT_STATUS(units.back().reset(), kOk);
  EXPECT_STATUS(submit(units.back(), 0).wait(kPatience), kOk);
  // Threads that come back make up for lost lanes.
  starts.release();
  EXPECT_TRUE(eventually([&] { return device().lanes() == kLanes; }));
}

}  // namespace
}  // namespace millrace::conformance
