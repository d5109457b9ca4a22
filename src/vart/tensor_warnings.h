// TensorWarnings: a tensor is bound by its index in the call, and its memory is taken as the
// model's tensor of that index. One with another name or description may be at the wrong index, or
// merely come from another model. Each case is logged once per runner and tensor of the model.
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "vart/runner_log.h"

namespace millrace::vartml {

enum class Oddity : uint8_t {
  kName,
  kDescription,  // data type or layout
  kView,         // neither CPU nor HW
  kOverwritten,  // an input that is passed as an output
};

struct OddTensor {
  Oddity oddity;
  const ::vart::NpuTensorInfo* expected;  // the model's tensor
  const ::vart::NpuTensorInfo* given;     // the tensor that is passed for it
};

class TensorWarnings {
 public:
  // Logs each oddity of a tensor of the model that has not been logged; does nothing where the log
  // does not take warnings.
  void warn(std::span<const OddTensor> tensors, const RunnerLog& log);

 private:
  std::mutex mutex_;
  std::set<std::pair<std::string, Oddity>> warned_;  // names of the model's tensors
};

}  // namespace millrace::vartml
