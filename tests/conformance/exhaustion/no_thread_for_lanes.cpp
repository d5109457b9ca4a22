// A device whose lanes were all refused gives no unit, until the system has threads again.
#include "tests/conformance/support/behaviour.h"
#include "tests/support/thread_refusal.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_thread_for_lanes) {
  drop_device();
  Result<Device> opened = [this] {
    const test::ThreadRefusal refusal;
    Result<Device> without_lanes = Device::open(device_name(), {.lanes = kLanes});
    EXPECT_STATUS(without_lanes.status(), kOk);
    EXPECT_EQ(without_lanes.value().lanes(), 0u);
    EXPECT_STATUS(without_lanes.value().create_unit().status(), kResourceExhausted);
    return without_lanes;
  }();
  EXPECT_STATUS(opened.value().create_unit().status(), kOk);
  EXPECT_EQ(opened.value().lanes(), kLanes);
}

}  // namespace
}  // namespace millrace::conformance
