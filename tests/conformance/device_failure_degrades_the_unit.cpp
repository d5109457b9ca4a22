// Without auto_reset a device failure degrades the unit, with the cause.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(device_failure_degrades_the_unit, Tag::kInjects) {
  Unit unit = make_unit({.depth = 4});
  faults().hold();
  faults().fail_nth(1, {StatusCode::kDeviceFailed, "the wheel is broken"});
  Job failed = submit(unit, 0), behind = submit(unit, 1);
  faults().release();
  const Status status = failed.wait(kPatience);
  EXPECT_STATUS(status, kDeviceFailed);
  EXPECT_EQ(status.message(), "the wheel is broken");
  EXPECT_STATUS(behind.wait(kPatience), kUnitDegraded);
  EXPECT_EQ(unit.state(), UnitState::kDegraded);
  EXPECT_NE(unit.failure().message().find("the wheel is broken"), std::string::npos);
  EXPECT_STATUS(unit.submit(model(), args(2)).status(), kUnitDegraded);
  EXPECT_STATUS(unit.reset(), kOk);
  EXPECT_STATUS(submit(unit, 2).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
