// Sets up logging for programs of the NRT API that do not configure it themselves, and logs the
// start of the runtime.
#pragma once

#include "device/device.h"
#include "nrt/process/settings.h"

namespace millrace::nrt {

// Sets level and destination from the environment, unless the program or MILLRACE_LOG has set them.
// Warns once of an invalid level and once of an unusable destination. Thread-safe.
void set_up_log();
// Like set_up_log(), but does nothing if the log has been set up already. For calls that may fail
// before nrt_init. Thread-safe.
void set_up_log_once();

// Logs at INFO the device, the limits and the injected faults of the runtime that starts, and the
// NEURON_RT_ variables that are set but have no effect. Warns of unknown MILLRACE_ variables.
void log_start(const Settings& settings, device::Device& device);

}  // namespace millrace::nrt
