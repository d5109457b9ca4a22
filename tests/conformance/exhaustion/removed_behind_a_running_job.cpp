// Jobs may be removed behind one that does not end, up to 65,536 of them; then the unit is full
// until it ends.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(removed_behind_a_running_job) {
  constexpr size_t kMost = 65'536;
  HookGate starts;
  Unit unit = make_unit({.depth = 2});
  const JobArgs shared = args();
  starts.hold(next_id(unit));
  Job running = submit(unit, shared);
  EXPECT_TRUE(starts.await(running.id()));
  for (size_t i = 0; i < kMost; ++i) {
    Job job = submit(unit, shared);
    EXPECT_EQ(job.cancel(kPatience).value(), CancelOutcome::kRemoved);
    job.detach();
  }
  EXPECT_EQ(unit.in_flight(), 1u);
  EXPECT_STATUS(unit.submit(model(), shared).status(), kQueueFull);
  EXPECT_EQ(unit.last_completed() + 1, running.id());
  Status waited;
  queue::SleepingThread waiter([&] { waited = running.wait(kPatience); });
  waiter.await_sleep();
  starts.release();
  waiter.join();
  EXPECT_STATUS(waited, kOk);
  EXPECT_TRUE(eventually([&] { return unit.last_completed() == unit.last_submitted(); }));
  EXPECT_STATUS(submit(unit, shared).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
