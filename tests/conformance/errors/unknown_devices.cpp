// open reports that a device does not exist.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(unknown_devices) {
  EXPECT_STATUS(Device::open("water-wheel").status(), kNotFound);
  EXPECT_STATUS(Device::open("").status(), kInvalidArgument);
  EXPECT_STATUS(Device::open("../" + device_name()).status(), kInvalidArgument);
  EXPECT_EQ(Device::open(device_name()).value().name(), device_name());
}

}  // namespace
}  // namespace millrace::conformance
