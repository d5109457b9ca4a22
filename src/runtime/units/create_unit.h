// Makes the execution units, for every face, the native API and the tools.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "queue/units/unit.h"

namespace millrace::runtime {

// An execution unit for work on `device`, on `lanes`, or on those of the device when null. To the
// options it adds what must hold for every unit: the watchdog of the environment
// (watchdog_in_force), and the order in which the device counts such work. Fails as
// queue::Unit::create, and with kInvalidArgument when MILLRACE_WATCHDOG makes no sense.
Result<std::unique_ptr<queue::Unit>> create_unit(device::Device& device, device::Work work,
                                                 queue::UnitOptions options,
                                                 queue::Lanes* lanes = nullptr);

}  // namespace millrace::runtime
