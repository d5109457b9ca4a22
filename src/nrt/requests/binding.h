// Binding: the tensors of two sets, looked up and checked, as one execution of a model uses them.
// Later changes of the sets do not change it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/status.h"
#include "nrt/objects/model.h"
#include "nrt/objects/tensor_set.h"
#include "runtime/jobs/job.h"

namespace millrace::nrt {

// An input in memory that the execution also writes. The execution reads a copy, made when it runs.
struct SharedInput {
  size_t binding = 0;  // the index of its first frame in Binding::inputs
  const std::byte* data = nullptr;
  size_t bytes = 0;
  size_t frame_bytes = 0;
  memory::HostAccess access;  // to all frames
};

// Immutable. All requests with the same model and unchanged sets share one.
struct Binding {
  std::shared_ptr<Model> model;
  std::vector<runtime::TensorBinding> inputs, outputs;  // frame after frame
  std::vector<SharedInput> shared_inputs;
  std::vector<std::shared_ptr<const Storage>> storages;  // of all tensors
  std::vector<std::shared_ptr<Tensor>> written;          // the output tensors
};

// Every input of the model must be in its set; an output that is not in its set is discarded. Of a
// tensor that is larger than the model's, which is logged, the first bytes are used.
// kInvalidArgument names a tensor that is too small; kNotFound one that was freed.
// May throw bad_alloc.
Result<std::shared_ptr<const Binding>> bind(std::shared_ptr<Model> model, const TensorSet& inputs,
                                            const TensorSet& outputs);

}  // namespace millrace::nrt
