// The watchdog over jobs and requests of the vendors' faces, whose APIs have no option for it.
#pragma once

#include <chrono>

#include "base/status.h"

namespace millrace::runtime {

// What the environment variable MILLRACE_WATCHDOG says, for example "10s": how long a job
// may run without progress. Zero, for no watchdog, when it is not set or empty; kInvalidArgument
// when it makes no sense. Any thread that does not race with a change of the environment.
Result<std::chrono::nanoseconds> watchdog_of_environment();

}  // namespace millrace::runtime
