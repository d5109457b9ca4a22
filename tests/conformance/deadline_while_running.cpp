// A running job whose deadline passes stops between two pieces of its work.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadline_while_running) {
  HookGate starts;
  Unit unit = make_unit();
  JobArgs hurried = args(0, kBatchSize);
  hurried.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  starts.hold(next_id(unit));
  Job job = submit(unit, hurried);
  EXPECT_TRUE(starts.await(job.id()));
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= hurried.deadline; }));
  EXPECT_FALSE(job.is_completed());
  starts.release();
  EXPECT_STATUS(job.wait(kPatience), kDeadlineExceeded);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
