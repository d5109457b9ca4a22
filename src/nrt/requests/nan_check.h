// Whether an execution has produced a NaN, for programs under test (MILLRACE_NRT_NAN_CHECK).
#pragma once

#include "base/status.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

// kCorruptData names the output and the element of the first NaN in what was written; OK for types
// that have none.
Status check_for_nan(const Binding& binding);

}  // namespace millrace::nrt
