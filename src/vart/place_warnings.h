// PlaceWarnings: a tensor is bound by its place in the call, and its memory is taken as the model's
// tensor there. One that is called or described otherwise may be in the wrong place, or merely come
// from another model. Each is said once per runner and tensor of the model. Any thread.
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
  kOverwritten,  // an input in the place of an output
};

struct OddTensor {
  Oddity oddity;
  const ::vart::NpuTensorInfo* expected;  // the model's tensor
  const ::vart::NpuTensorInfo* given;     // the tensor in its place
};

class PlaceWarnings {
 public:
  // One line for each oddity of a tensor of the model that there was none for; nothing when nobody
  // listens.
  void warn(std::span<const OddTensor> tensors, const RunnerLog& log);

 private:
  std::mutex mutex_;
  std::set<std::pair<std::string, Oddity>> warned_;  // names of the model's tensors
};

}  // namespace millrace::vartml
