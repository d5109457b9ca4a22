// JobBuffers: the buffers of one job, one for each boundary tensor and frame, and the dimensions of
// open ones.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "memory/buffer.h"
#include "runtime/session.h"

namespace millrace::cli {

class JobBuffers {
 public:
  JobBuffers(JobBuffers&&) = default;
  JobBuffers& operator=(JobBuffers&&) = default;
  // Zero-filled buffers for `frames` frames of a model whose inputs are `inputs`: those of the
  // model, the open ones settled (open_tensors.h). Open outputs have room for a little.
  static Result<JobBuffers> allocate(const graph::CompiledModel& model,
                                     const std::vector<graph::Boundary>& inputs, uint32_t frames,
                                     device::View input_view, device::View output_view);

  // Runs the job, again where outputs turned out to need more room, which it makes.
  Status execute(runtime::Session& session);

  const runtime::JobBindings& bindings() const { return bindings_; }
  bool has_open_tensors() const { return !open_outputs_.empty(); }
  // The output as the last job made it: open dimensions have the sizes that it stated.
  graph::Boundary output_boundary(uint32_t frame, size_t index) const;
  std::byte* input(uint32_t frame, size_t index) const;
  std::byte* output(uint32_t frame, size_t index) const;

 private:
  JobBuffers() = default;
  // Makes room for the outputs that the last job stated to be larger; false where none is.
  Result<bool> grow();

  uint32_t frames_ = 0;
  runtime::JobBindings bindings_;  // refers to the vectors below, which keep their memory on a move
  std::vector<runtime::TensorBinding> inputs_, outputs_;
  std::vector<graph::Boundary> output_boundaries_;  // outputs of one frame, as the model has them
  // By binding, where any tensor of the model is open; their shapes are in `shapes_`.
  std::vector<runtime::OpenTensor> open_inputs_, open_outputs_;
  std::vector<TensorShape> input_shapes_, output_shapes_;
};

}  // namespace millrace::cli
