// A unit runs one job at a time, also while lanes have nothing to do.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(one_job_at_a_time) {
  HookGate starts;
  Unit unit = make_unit(), other = make_unit();
  starts.hold(next_id(unit));
  Job first = submit(unit, 0);
  Job second = submit(unit, 1);
  EXPECT_TRUE(starts.await(first.id()));
  // There is a lane for it.
  EXPECT_STATUS(submit(other, 2).wait(kPatience), kOk);
  EXPECT_EQ(starts.count(second.id()), 0u);
  EXPECT_FALSE(second.is_completed());
  starts.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
