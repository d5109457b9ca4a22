// JobBuffers owns the buffers of one job, one for each boundary tensor and frame, and the shapes of
// open tensors. One thread at a time, and not while the job runs.
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
  // Allocates zero-filled buffers for `frames` frames of the model. `inputs` are its inputs, with
  // the shapes of open ones (open_tensors.h). Buffers of open outputs are small at first.
  static Result<JobBuffers> allocate(const graph::CompiledModel& model,
                                     const std::vector<graph::Boundary>& inputs, uint32_t frames,
                                     device::View input_view, device::View output_view);

  // Runs the job. If open outputs need larger buffers, allocates these and runs it again.
  Status execute(runtime::Session& session);

  const runtime::JobBindings& bindings() const { return bindings_; }
  bool has_open_tensors() const { return !open_outputs_.empty(); }
  // Returns an output with the shape that the last job gave it.
  graph::Boundary output_boundary(uint32_t frame, size_t index) const;
  std::byte* input(uint32_t frame, size_t index) const;
  std::byte* output(uint32_t frame, size_t index) const;

 private:
  JobBuffers() = default;
  // Enlarges the buffers of open outputs to the shapes that the last job reported. Returns false if
  // all were large enough.
  Result<bool> grow();

  uint32_t frames_ = 0;
  runtime::JobBindings bindings_;  // refers to the vectors below, which keep their memory on a move
  std::vector<runtime::TensorBinding> inputs_, outputs_;
  std::vector<graph::Boundary> output_boundaries_;  // the model's outputs
  // By binding; empty if no tensor of the model is open. They point to the shapes below.
  std::vector<runtime::OpenTensor> open_inputs_, open_outputs_;
  std::vector<TensorShape> input_shapes_, output_shapes_;
};

}  // namespace millrace::cli
