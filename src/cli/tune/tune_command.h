// `millrace tune` and `millrace compile --tune`: measure the candidate kernels of a model's
// convolutions on this processor, and record their times.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/model_source.h"

namespace millrace::cli {

struct TuneArguments {
  std::string model;
  std::string record;  // the file for the times; empty: record_beside() the model
  std::vector<std::string> shapes;
  uint32_t runs = 15;  // measured runs of the model with the record, and of those without
  CompileFlags flags;
};

// Checks that there is a device whose kernels can be measured. Errors are those of
// device::open_device().
Status check_tuning_device();

// Measures the kernels whose times the record lacks and adds these. Then prints the latency of the
// model with its default kernels and with those chosen by the record. kUnsupported if no kernel
// could be chosen. Changes environment variables, which other threads must not access meanwhile. To
// be called while this thread is the only one that does not block signals
// (supervision/interruption.h).
Status run_tune(const TuneArguments& arguments);

}  // namespace millrace::cli
