// Queued jobs complete at their own deadlines, in whatever order these were given.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadlines_in_any_order) {
  using std::chrono::milliseconds;
  HookGate starts, ends(HookPoint::kCompleted);
  Unit unit = make_unit({.depth = 8});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  const Deadline soon = std::chrono::steady_clock::now() + milliseconds(50);
  std::vector<Job> late;
  for (const int position : {3, 0, 2, 1}) {
    JobArgs hurried = args(static_cast<size_t>(1 + position));
    hurried.deadline = soon + position * milliseconds(40);
    late.push_back(submit(unit, hurried));
  }
  Job patient = submit(unit, 5);
  for (Job& job : late) EXPECT_STATUS(job.wait(kPatience), kDeadlineExceeded);
  EXPECT_FALSE(patient.is_completed() || running.is_completed());
  EXPECT_EQ(unit.in_flight(), 2u);
  starts.release();
  EXPECT_STATUS(running.wait(kPatience), kOk);
  EXPECT_STATUS(patient.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
