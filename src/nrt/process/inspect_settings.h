// The environment variables by which a program is profiled that does not call nrt_inspect_* itself
// (NEURON_RT_INSPECT_*).
#pragma once

#include "base/status.h"
#include "nrt/process/core_range.h"
#include "nrt/recording/environment_inspection.h"

namespace millrace::nrt {

// Returns what the environment requests; an empty directory if it requests no profile.
// kInvalidArgument names a variable with an invalid value. `visible` are the cores of the process.
Result<trace::EnvironmentProfile> inspect_settings(const CoreRange& visible);

}  // namespace millrace::nrt
