// The watchdog that the environment sets for the jobs and requests of every program.
#pragma once

#include <chrono>

#include "base/status.h"

namespace millrace::runtime {

// Returns how long a job may run without progress: the smaller of `own`, which the program sets,
// and the environment variable MILLRACE_WATCHDOG, for example "10s". Zero means no limit, and so
// does a variable that is empty or not set. kInvalidArgument if the variable cannot be parsed.
// Thread-safe, as long as no thread changes the environment.
Result<std::chrono::nanoseconds> watchdog_in_force(std::chrono::nanoseconds own);

}  // namespace millrace::runtime
