// A device whose lanes were all refused gives no unit.
#include "tests/conformance/support/behaviour.h"
#include "tests/support/thread_refusal.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_thread_for_lanes) {
  drop_device();
  const test::ThreadRefusal refusal;
  Result<Device> opened = Device::open(device_name(), {.lanes = kLanes});
  EXPECT_STATUS(opened.status(), kOk);
  EXPECT_EQ(opened.value().lanes(), 0u);
  EXPECT_STATUS(opened.value().create_unit().status(), kUnavailable);
}

}  // namespace
}  // namespace millrace::conformance
