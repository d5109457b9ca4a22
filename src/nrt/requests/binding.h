// Binding: the tensors of an input set and an output set, looked up, checked and assigned to the
// inputs and outputs of a model. It is immutable: later changes of the sets do not affect it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "nrt/objects/model.h"
#include "nrt/objects/tensor_set.h"
#include "runtime/jobs/job.h"

namespace millrace::nrt {

// An input whose memory overlaps that of an output, and whose bytes the execution must not lose. It
// reads a copy of it, which is made when it starts to run.
struct SharedInput {
  size_t binding = 0;  // the index of its first frame in Binding::inputs
  const std::byte* data = nullptr;
  size_t bytes = 0;
  size_t frame_bytes = 0;
  memory::HostAccess access;  // host access to all frames
};

// Requests with the same model and unchanged sets share one binding (binding_cache.h).
struct Binding {
  std::shared_ptr<Model> model;
  // Frame f of input i is inputs[f * n + i], where the model has n inputs; likewise for outputs.
  std::vector<runtime::TensorBinding> inputs, outputs;
  std::vector<SharedInput> shared_inputs;
  std::vector<std::shared_ptr<const Storage>> storages;  // keep the memory of all tensors
  std::vector<std::shared_ptr<Tensor>> written;          // the tensors of the output set
};

// Says what happens to an input that the model updates in place (graph::is_updated_in_place), such
// as a key-value cache, where its tensor is that of the output, too.
enum class UpdatedInputs : uint8_t {
  kInPlace,  // the execution writes into the tensor, and nothing is copied
  kKept,     // its earlier bytes are kept in a copy, as those of other shared inputs
};

// Binds the tensors of two sets to a model. The input set must have every input of the model. An
// output that is missing from the output set is discarded. Of a tensor that is larger than its
// input or output, only the first bytes are used, which is logged at INFO. kInvalidArgument names
// an input that is missing, or a tensor that is too small; kNotFound names one that was freed. May
// throw bad_alloc.
Result<std::shared_ptr<const Binding>> bind(std::shared_ptr<Model> model, const TensorSet& inputs,
                                            const TensorSet& outputs, UpdatedInputs updated);

}  // namespace millrace::nrt
