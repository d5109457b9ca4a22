// JobBinder: checks the tensors of a call to a runner and translates them to the bindings of a job,
// in whichever view each tensor has. Tensors are matched with the inputs and outputs of the model
// by their index. Not thread-safe: each thread uses its own binder (BinderOfCall).
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/process/thread_spare.h"
#include "runtime/jobs/job.h"
#include "vart/tensors/model_tensors.h"
#include "vart/tensors/tensor_warnings.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

using TensorTable = std::vector<std::vector<::vart::NpuTensor>>;

// The requirements that a runner has for the tensors of a call.
struct CallRules {
  size_t batch_size = 1;
  // If not null, tensors that this program would have to convert are refused.
  const device::Program* in_place_on = nullptr;
};

// Holds the bindings of one call. It is reused from call to call and keeps the capacity of its
// vectors, so that in the steady state binding allocates nothing.
class JobBinder {
 public:
  // Checks and binds as many frames as there are inputs; additional frames of outputs are ignored.
  // On failure returns INVALID_INPUT or INVALID_OUTPUT, and reason() describes it.
  ::vart::StatusCode bind(const ModelTensors& model, const CallRules& rules,
                          const TensorTable& inputs, const TensorTable& outputs);
  runtime::JobBindings bindings() const noexcept { return {frames_, inputs_, outputs_}; }
  const std::string& reason() const noexcept { return reason_; }
  // Returns the differences between the descriptions of the call's tensors and those of the model.
  // They refer to both: valid as long as the model and the tensors of the call exist.
  std::span<const TensorMismatch> mismatches() const noexcept { return mismatches_; }

  // Drops the references to tensors and keeps the capacity.
  void clear() noexcept;

 private:
  bool bind_side(const ModelTensors& model, ::vart::TensorDirection direction,
                 const TensorTable& table, std::vector<runtime::TensorBinding>& bindings);
  bool bind_tensor(const ModelTensors& model, ::vart::TensorDirection direction, size_t index,
                   const ::vart::NpuTensor& tensor, runtime::TensorBinding& binding);
  void note_mismatches(const ::vart::NpuTensorInfo& expected, const ::vart::NpuTensorInfo& given);
  bool is_in_place(::vart::TensorDirection direction, size_t index, device::View view) const;
  bool refuse(::vart::TensorDirection direction, const std::string& name, std::string why);

  CallRules rules_;
  uint32_t frames_ = 0;
  std::vector<runtime::TensorBinding> inputs_, outputs_;
  std::vector<TensorMismatch> mismatches_;
  std::string reason_;
};

// The calling thread's binder for the duration of one call. Its destructor drops all references to
// tensors, however the call ends.
class BinderOfCall {
 public:
  // Throws std::bad_alloc.
  BinderOfCall() {
    if (!binder_) throw std::bad_alloc();
  }
  ~BinderOfCall() { binder_->clear(); }
  BinderOfCall(const BinderOfCall&) = delete;
  BinderOfCall& operator=(const BinderOfCall&) = delete;

  JobBinder* operator->() const noexcept { return &*binder_; }

 private:
  const ThreadSpare<JobBinder> binder_;
};

}  // namespace millrace::vartml
