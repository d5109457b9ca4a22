// TensorWarnings: warns about tensors of a call whose name or description differs from that of the
// model's tensor at the same index. Tensors are bound by their index, so such a tensor may be at
// the wrong index, or merely belong to another model. Each kind of mismatch is logged once per
// runner and tensor of the model. Thread-safe.
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
  kView,         // the view is neither CPU nor HW
  kOverwritten,  // an input that is passed as an output
};

struct TensorMismatch {
  Mismatch kind;
  const ::vart::NpuTensorInfo* expected;  // the model's tensor
  const ::vart::NpuTensorInfo* given;     // the tensor that is passed for it
};

class TensorWarnings {
 public:
  // Logs the mismatches that have not been logged before; does nothing if the log drops warnings.
  void warn(std::span<const TensorMismatch> mismatches, const RunnerLog& log);

 private:
  std::mutex mutex_;
  std::set<std::pair<std::string, Mismatch>> warned_;  // names of the model's tensors
};

}  // namespace millrace::vartml
