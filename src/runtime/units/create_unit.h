// create_unit(): creates the execution units of all faces, the native API and the tools.
#pragma once

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "queue/units/unit.h"

namespace millrace::runtime {

// Creates an execution unit for `work` on `device`, on `lanes`, or on the device's lanes if null.
// It applies two settings to the options, for every unit: the watchdog of the environment
// (watchdog_in_force), and the acceptance order in which the device numbers such work. Fails as
// queue::Unit::create, and with kInvalidArgument if MILLRACE_WATCHDOG cannot be parsed.
Result<std::unique_ptr<queue::Unit>> create_unit(device::Device& device, device::Work work,
                                                 queue::UnitOptions options,
                                                 queue::Lanes* lanes = nullptr);

}  // namespace millrace::runtime
