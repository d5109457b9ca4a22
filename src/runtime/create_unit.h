// Makes the execution units, for every face, the native API and the tools.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "queue/unit.h"

namespace millrace::runtime {

// An execution unit for work on `device`, on `lanes`, or on those of the device when null. To the
// options it adds the order in which the device counts such work. Fails as queue::Unit::create.
Result<std::unique_ptr<queue::Unit>> create_unit(device::Device& device, device::Work work,
                                                 queue::UnitOptions options,
                                                 queue::Lanes* lanes = nullptr);

}  // namespace millrace::runtime
