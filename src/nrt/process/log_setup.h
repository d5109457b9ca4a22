// Where the log of a program goes that knows only this face, and what it says of the start.
#pragma once

#include "device/device.h"
#include "nrt/process/settings.h"

namespace millrace::nrt {

// Standard error, down to the level that the environment says, unless the program or
// MILLRACE_LOG has chosen. Warns once of a level that there is not. Any thread.
void set_up_log();
// The same, unless it has been done: for calls that may fail before nrt_init.
void set_up_log_once();

// A line at INFO: what has been started, with what limits and what faults. Another one names the
// variables that are set and have no effect here.
void log_start(const Settings& settings, device::Device& device);

}  // namespace millrace::nrt
