// Cancelling a job that was cancelled before returns the outcome of the first cancellation.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancel_again) {
  using std::chrono::milliseconds;
  HookGate starts;
  Unit unit = make_unit();
  starts.hold(next_id(unit));
  Job running = submit(unit, 0), queued = submit(unit, 1);
  EXPECT_TRUE(starts.await(running.id()));
  EXPECT_EQ(queued.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_EQ(queued.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_STATUS(running.cancel(milliseconds(0)).status(), kPending);
  starts.release();
  EXPECT_TRUE(eventually([&] { return running.is_completed(); }));
  EXPECT_EQ(running.cancel(kPatience).value(), CancelOutcome::kStopped);
  EXPECT_STATUS(running.wait(kPatience), kCancelled);
  EXPECT_STATUS(queued.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
