// Strict zero-copy: an option of the environment that makes jobs of the VART face and the native
// API fail instead of converting tensors.
#pragma once

#include "base/status.h"

namespace millrace::runtime {

// Returns the value of the environment variable MILLRACE_STRICT_ZERO_COPY; false if it is empty or
// not set. kInvalidArgument if it is not a switch value. Thread-safe, as long as no thread changes
// the environment.
Result<bool> strict_zero_copy_requested();

}  // namespace millrace::runtime
