// The log of programs that do not choose one themselves, and its line about nrt_init.
#pragma once

#include "device/device.h"
#include "nrt/process/settings.h"

namespace millrace::nrt {

// Sets level and destination from the environment, unless the program or MILLRACE_LOG has chosen.
// Warns once of a level that does not exist. Thread-safe.
void set_up_log();
// The same, unless it has been done already: for calls that may fail before nrt_init.
void set_up_log_once();

// Logs at INFO what has been started, with its limits and its injected faults, and the variables
// that are set and have no effect here.
void log_start(const Settings& settings, device::Device& device);

}  // namespace millrace::nrt
