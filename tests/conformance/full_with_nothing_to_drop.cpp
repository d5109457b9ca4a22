// WhenFull::kDropOldest: a running job is not dropped; the newcomer is refused.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_with_nothing_to_drop) {
  HookGate starts;
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kDropOldest});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  EXPECT_STATUS(unit.submit(model(), args(1)).status(), kQueueFull);
  starts.release();
  EXPECT_STATUS(running.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
