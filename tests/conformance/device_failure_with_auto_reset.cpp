// With auto_reset a device failure costs the job that met it; those behind it run.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(device_failure_with_auto_reset, Tag::kInjects) {
  Unit unit = make_unit({.depth = 4, .auto_reset = true});
  const uint32_t generation = unit.generation();
  faults().hold();
  faults().fail_nth(1);
  Job failed = submit(unit, 0), behind = submit(unit, 1);
  faults().release();
  EXPECT_STATUS(failed.wait(kPatience), kDeviceFailed);
  EXPECT_STATUS(behind.wait(kPatience), kOk);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
  EXPECT_EQ(unit.generation(), generation + 1);
  EXPECT_TRUE(memory(0).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
