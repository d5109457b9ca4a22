// ExecutionChecks: the settings of the vendor's debugging variables, which say what executions are
// examined for, and what happens to their inputs when they fail.
#pragma once

#include <cstdint>
#include <optional>

#include "nrt/nrt_status.h"

namespace millrace::nrt {

// The values of NEURON_RT_NUMERICAL_ERRORS_VERBOSITY. Each also reports what the previous one does.
enum class NumericalErrors : uint8_t {
  kNone,
  kCritical,  // NaN
  kDebug,     // overflows, which leave infinities, and underflows, which leave subnormal values
  kVerbose,   // infinities of any cause, which outputs do not distinguish from those of overflows
};

struct ExecutionChecks {
  bool fail_on_nan = false;  // executions that write a NaN fail
  NumericalErrors reported = NumericalErrors::kNone;
  // The status of executions whose inputs are written to files; empty for none.
  std::optional<NRT_STATUS> dump_inputs_on;
};

}  // namespace millrace::nrt
