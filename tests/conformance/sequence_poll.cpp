// Polling: is_completed per job, last_completed up to which all are.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(sequence_poll) {
  HookGate starts;
  Unit unit = make_unit();
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  Job second = submit(unit, 1), removed = submit(unit, 2);
  EXPECT_EQ(unit.last_submitted(), removed.id());
  EXPECT_EQ(unit.last_completed() + 1, running.id());
  EXPECT_EQ(removed.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_TRUE(removed.is_completed() && unit.is_completed(removed.id()));
  EXPECT_FALSE(second.is_completed() || unit.is_completed(second.id()));
  EXPECT_EQ(unit.last_completed() + 1, running.id());
  EXPECT_FALSE(unit.is_completed(removed.id() + 1));
  starts.release();
  EXPECT_TRUE(eventually([&] { return unit.last_completed() == removed.id(); }));
  EXPECT_TRUE(running.is_completed() && second.is_completed());
  EXPECT_STATUS(running.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_STATUS(removed.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
