// A lane that could not be replaced for a while is replaced when a unit is made, although its job
// still hangs.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/support/thread_refusal.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_thread_for_a_while) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .watchdog = kWatchdog, .auto_reset = true});
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  starts.hold(next_id(unit));
  {
    const test::ThreadRefusal refusal;
    EXPECT_STATUS(submit(unit, 0).wait(kPatience), kHung);
    EXPECT_EQ(device().lanes(), kLanes - 1);
  }
  Unit another = make_unit();
  EXPECT_EQ(device().lanes(), kLanes);
  EXPECT_STATUS(submit(another, 1).wait(kPatience), kOk);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
