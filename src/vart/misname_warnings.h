// MisnameWarnings: a tensor is bound by its place in the call, so one that is called otherwise than
// the model's may be in the wrong place, or merely come from another model. Said once per runner
// and tensor of the model. Any thread.
#pragma once

#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "vart/runner_log.h"

namespace millrace::vartml {

struct Misname {
  std::string_view expected;  // the model's tensor
  std::string_view given;     // what the tensor in its place is called
};

class MisnameWarnings {
 public:
  // One line for each tensor of the model that there was none for; nothing when nobody listens.
  void warn(std::span<const Misname> misnames, const RunnerLog& log);

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> warned_;  // names of the model's tensors
};

}  // namespace millrace::vartml
