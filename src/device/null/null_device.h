// The null device: completes every job at once, on a lane. It computes nothing and leaves the
// outputs unchanged, so the cost of a job on it is the overhead of the runtime. It is also the
// template for a new device.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace millrace::device {

inline constexpr const char* kNullDeviceName = "null";

// Creates the device. It accepts every model and every view, so the runtime never converts for it.
// A tensor without an HW view still cannot be bound in one.
Result<std::shared_ptr<Device>> create_null_device(const DeviceOptions& options);

}  // namespace millrace::device
