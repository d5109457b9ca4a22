// WhenFull::kDropOldest where 65,536 jobs were removed behind a running one: the newcomer is
// refused and nothing is dropped for it.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(dropped_behind_a_running_job) {
  constexpr size_t kMost = 65'536, kDropped = 4;
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .when_full = WhenFull::kDropOldest});
  const JobArgs shared = args();
  starts.hold(next_id(unit));
  Job running = submit(unit, shared);
  EXPECT_TRUE(starts.await(running.id()));
  for (size_t i = kDropped; i < kMost; ++i) {
    Job job = submit(unit, shared);
    EXPECT_EQ(job.cancel(kPatience).value(), CancelOutcome::kRemoved);
    job.detach();
  }
  Job newest = submit(unit, shared);
  for (size_t i = 0; i < 2 * kDropped; ++i) {
    Result<Job> job = unit.submit(model(), shared);
    if (!job.ok()) {
      EXPECT_STATUS(job.status(), kQueueFull);
      EXPECT_FALSE(newest.is_completed());
      continue;
    }
    EXPECT_STATUS(newest.wait(kPatience), kDropped);
    newest = *std::move(job);
  }
  EXPECT_EQ(unit.in_flight(), 2u);
  starts.release();
  EXPECT_STATUS(newest.wait(kPatience), kOk);
  running.detach();
}

}  // namespace
}  // namespace millrace::conformance
