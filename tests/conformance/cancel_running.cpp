// A running job that is cancelled stops between two pieces of its work and says so.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancel_running) {
  using std::chrono::milliseconds;
  HookGate starts;
  Unit unit = make_unit();
  starts.hold(next_id(unit));
  Job job = submit(unit, args(0, kBatchSize)), behind = submit(unit, 1);
  EXPECT_TRUE(starts.await(job.id()));
  // It does not come to a boundary, so the call gives up, but the request stands.
  EXPECT_STATUS(job.cancel(milliseconds(5)).status(), kPending);
  Result<CancelOutcome> outcome = Status(StatusCode::kInternal, "not set");
  queue::SleepingThread canceller([&] { outcome = job.cancel(kPatience); });
  canceller.await_sleep();
  starts.release();
  canceller.join();
  EXPECT_EQ(outcome.value(), CancelOutcome::kStopped);
  const Status status = job.wait(milliseconds(0));
  EXPECT_STATUS(status, kCancelled);
  EXPECT_NE(status.message().find("undefined"), std::string::npos) << status.message();
  EXPECT_STATUS(behind.wait(kPatience), kOk);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
}

}  // namespace
}  // namespace millrace::conformance
