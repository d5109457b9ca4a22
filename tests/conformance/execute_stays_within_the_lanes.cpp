// execute on many units at once: no more jobs run than there are lanes.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_stays_within_the_lanes) {
  constexpr size_t kThreads = 5, kJobs = 20;
  HookGate starts;
  std::vector<Unit> units;
  std::vector<JobArgs> own;
  for (size_t i = 0; i < kThreads; ++i) {
    units.push_back(make_unit());
    own.push_back(args(i));
    starts.hold(next_id(units.back()));
  }
  std::vector<std::future<void>> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.push_back(on_thread([&, i] {
      for (size_t job = 0; job < kJobs; ++job)
        EXPECT_STATUS(units[i].execute(model(), own[i]), kOk);
    }));
  }
  EXPECT_TRUE(eventually([&] { return starts.ids().size() >= kLanes; }));
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(units, [](const Unit& unit) { return unit.in_flight() == 1; });
  }));
  EXPECT_EQ(starts.ids().size(), kLanes);
  starts.release();
  for (std::future<void>& thread : threads) thread.get();
  EXPECT_EQ(starts.ids().size(), kThreads * kJobs);
}

}  // namespace
}  // namespace millrace::conformance
