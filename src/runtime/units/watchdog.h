// The watchdog that the environment asks for, over the jobs and requests of every program.
#pragma once

#include <chrono>

#include "base/status.h"

namespace millrace::runtime {

// How long a job may run without progress: what the environment variable MILLRACE_WATCHDOG says,
// for example "10s", or `own`, what the program asks for, whichever is less. Zero is for ever, both
// for `own` and for a variable that is empty or not set. kInvalidArgument when the variable makes
// no sense. Thread-safe, unless the environment is being changed.
Result<std::chrono::nanoseconds> watchdog_in_force(std::chrono::nanoseconds own);

}  // namespace millrace::runtime
