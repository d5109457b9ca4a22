// The check for NaNs in the outputs of an execution (MILLRACE_NRT_NAN_CHECK).
#pragma once

#include "base/status.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

// Returns kCorruptData for the first NaN; the message names the output, the frame and the element.
// Outputs of integer types always pass.
Status check_for_nan(const Binding& binding);

}  // namespace millrace::nrt
