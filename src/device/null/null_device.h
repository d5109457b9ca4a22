// The null device: completes every job at once, on a lane. It computes nothing and leaves the
// outputs as they are, so what a job costs on it is what the runtime itself costs. It is also the
// skeleton to copy for a new device.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace millrace::device {

inline constexpr const char* kNullDeviceName = "null";

// Accepts every model and every view, so that the runtime never converts for it. A boundary without
// an HW view still has none.
Result<std::shared_ptr<Device>> create_null_device(const DeviceOptions& options);

}  // namespace millrace::device
