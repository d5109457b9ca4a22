// The examination of the outputs of an execution for NaN, infinities and subnormal values. Outputs
// of integer types have none.
#pragma once

#include "base/status.h"
#include "nrt/requests/binding.h"
#include "nrt/requests/execution_checks.h"

namespace millrace::nrt {

// Returns kCorruptData for the first NaN; the message names the output, the frame and the element.
Status check_for_nan(const Binding& binding);

// Logs a warning for each output that has values of the kinds that are reported, with their number
// and the first of them.
void report_numerical_errors(const Binding& binding, NumericalErrors reported) noexcept;

}  // namespace millrace::nrt
