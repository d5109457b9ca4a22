// Whether the environment forbids jobs of the VART face and the native API to convert tensors.
#pragma once

#include "base/status.h"

namespace millrace::runtime {

// Reads the environment variable MILLRACE_STRICT_ZERO_COPY; false when it is empty or not set.
// kInvalidArgument when it is no switch. Thread-safe, unless the environment is being changed.
Result<bool> strict_zero_copy_requested();

}  // namespace millrace::runtime
