// Model::Impl: the executor of a loaded program, and its tensors as the native API describes them.
// Immutable, and so thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/model.hpp"
#include "runtime/jobs/executor.h"

namespace millrace {

class Model::Impl {
 public:
  Impl(std::shared_ptr<runtime::Executor> executor, std::string note, bool strict_zero_copy);

  const std::shared_ptr<runtime::Executor>& executor() const noexcept { return executor_; }
  const std::vector<TensorInfo>& inputs() const noexcept { return inputs_; }
  const std::vector<TensorInfo>& outputs() const noexcept { return outputs_; }
  const std::string& note() const noexcept { return note_; }
  // Returns whether MILLRACE_STRICT_ZERO_COPY was set when the model was loaded.
  bool strict_zero_copy() const noexcept { return strict_zero_copy_; }

 private:
  const std::shared_ptr<runtime::Executor> executor_;
  const std::string note_;
  const bool strict_zero_copy_;
  const std::vector<TensorInfo> inputs_, outputs_;
};

}  // namespace millrace
