// millrace tune and millrace compile --tune: measure the kernels that a model could have on this
// processor.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/model_source.h"

namespace millrace::cli {

struct TuneArguments {
  std::string model;
  std::string record;  // the file for the times; empty: the model's name and ".tuning"
  std::vector<std::string> shapes;
  uint32_t runs = 15;  // runs of the model, with and without the record
  CompileFlags flags;
};

// Whether there is a device whose kernels can be measured; fails as device::open_device.
Status check_tuning_device();

// Adds to the record what it lacks, and prints the latency of the model with its usual kernels and
// with those chosen by the record. kUnsupported where nothing could be chosen. To be called while
// this thread is the only one that does not block signals (supervision/interruption.h).
Status run_tune(const TuneArguments& arguments);

}  // namespace millrace::cli
