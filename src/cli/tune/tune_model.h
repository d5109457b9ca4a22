// Measures the candidate kernels of a model's convolutions on this processor, and adds the times
// that its record lacks: `millrace tune`, and millrace.tune() of the Python package.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "cli/commands.h"

namespace millrace::cli {

struct Tuning {
  std::string record;       // the file with the times
  size_t convolutions = 0;  // whose kernels the record chooses
  // Median latencies with the default kernels, and with those of the record.
  double usual_ms = 0, tuned_ms = 0;
};

// Sets and removes environment variables, so no other thread may access them meanwhile, and the
// process must not hold a device with options of its own. kUnsupported if there is nothing to tune,
// or if the record cannot be used.
Result<Tuning> tune_model(const TuneArguments& arguments);

}  // namespace millrace::cli
