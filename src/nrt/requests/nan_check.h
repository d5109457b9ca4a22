// The check for a NaN in the outputs of an execution (MILLRACE_NRT_NAN_CHECK).
#pragma once

#include "base/status.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

// kCorruptData names the output and the element of the first NaN. Integers have none.
Status check_for_nan(const Binding& binding);

}  // namespace millrace::nrt
