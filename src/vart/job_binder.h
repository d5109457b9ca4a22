// JobBinder: from the vectors of tensors of a call to the bindings of a job, checked.
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

// The rules for what a runner takes in a call.
struct CallRules {
  size_t batch_size = 1;
  // Tensors that this program would have converted are refused; null: none are.
  const device::Program* in_place_on = nullptr;
};

// The bindings of one call. Reused from call to call, so that binding allocates nothing.
class JobBinder {
 public:
  // Checks and binds as many frames as there are inputs; further outputs are left alone. Otherwise
  // INVALID_INPUT or INVALID_OUTPUT, and reason() says why.
  ::vart::StatusCode bind(const ModelTensors& model, const CallRules& rules,
                          const TensorTable& inputs, const TensorTable& outputs);
  runtime::JobBindings bindings() const noexcept { return {frames_, inputs_, outputs_}; }
  const std::string& reason() const noexcept { return reason_; }
  // Differences between tensors of the call and those of the model that they are bound to. Valid as
  // long as the model and the tensors of the call.
  std::span<const TensorMismatch> mismatches() const noexcept { return mismatches_; }

  // Drops the references to tensors, keeps the capacity.
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

// The binder of the calling thread for the time of one call: however the call ends, no tensor is
// referred to afterwards.
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
