// TensorWarnings: warns about tensors of a call whose name or description differs from the model's
// tensor at the same index, once per runner and tensor. Tensors are bound by their index in the
// call, so such a tensor may be at the wrong index, or merely come from another model. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "vart/runner_log.h"

namespace millrace::vartml {

enum class Mismatch : uint8_t {
  kName,
  kDescription,  // data type or layout
  kView,         // neither CPU nor HW
  kOverwritten,  // an input that is passed as an output
};

struct TensorMismatch {
  Mismatch kind;
  const ::vart::NpuTensorInfo* expected;  // the model's tensor
  const ::vart::NpuTensorInfo* given;     // the tensor that is passed for it
};

class TensorWarnings {
 public:
  // Logs each mismatch of a tensor of the model that has not been logged; does nothing where the
  // log does not take warnings.
  void warn(std::span<const TensorMismatch> mismatches, const RunnerLog& log);

 private:
  std::mutex mutex_;
  std::set<std::pair<std::string, Mismatch>> warned_;  // names of the model's tensors
};

}  // namespace millrace::vartml
