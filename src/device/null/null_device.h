// The null device: completes every job at once, on a lane. It computes nothing and leaves the
// outputs unchanged, so the cost of a job on it is the cost of the runtime itself. It is also the
// skeleton to copy for a new device.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace millrace::device {

inline constexpr const char* kNullDeviceName = "null";

// The device accepts every model and every view, so that the runtime never converts for it. A
// boundary without an HW view has none here, either.
Result<std::shared_ptr<Device>> create_null_device(const DeviceOptions& options);

}  // namespace millrace::device
