// A job whose deadline has passed at submission is accepted, and completes without running.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadline_already_passed) {
  HookGate starts;
  Unit unit = make_unit();
  JobArgs late = args();
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  Job job = submit(unit, late);
  const JobId id = job.id();
  EXPECT_STATUS(job.wait(kPatience), kDeadlineExceeded);
  EXPECT_STATUS(unit.execute(model(), late), kDeadlineExceeded);
  EXPECT_EQ(starts.count(id), 0u);
  EXPECT_TRUE(memory(0).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
