// A job that hangs at the destruction of its device is given up after close_patience.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(destroyed_device_with_a_hung_job) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .close_patience = kWatchdog});
  starts.hold(next_id(unit));
  Job hung = submit(unit, 0), queued = submit(unit, 1);
  EXPECT_TRUE(starts.await(hung.id()));
  drop_device();
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  EXPECT_STATUS(queued.wait(kPatience), kCancelled);
  EXPECT_TRUE(memory(0).is_held());
  starts.release();
  EXPECT_TRUE(eventually([&] { return !memory(0).is_held(); }));
}

}  // namespace
}  // namespace millrace::conformance
