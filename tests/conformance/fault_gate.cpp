// A held faulty device keeps jobs on their lanes; released, or let through, they run.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(fault_gate, Tag::kInjects) {
  Unit unit = make_unit();
  faults().hold();
  Job first = submit(unit, 0), second = submit(unit, 1);
  faults().await_arrivals(1);
  EXPECT_STATUS(first.wait(std::chrono::milliseconds(5)), kPending);
  faults().let_through(1);
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(std::chrono::milliseconds(5)), kPending);
  // A job at the gate is between two pieces of its work.
  faults().await_arrivals(2);
  EXPECT_EQ(second.cancel(kPatience).value(), CancelOutcome::kStopped);
  Job third = submit(unit, 2);
  faults().release();
  EXPECT_STATUS(second.wait(kPatience), kCancelled);
  EXPECT_STATUS(third.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
