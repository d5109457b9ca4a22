// JobBuffers: the buffers of one job, one for each boundary tensor and frame.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "memory/buffer.h"
#include "runtime/job.h"

namespace millrace::cli {

class JobBuffers {
 public:
  // Zero-filled buffers for `frames` frames of a model.
  static Result<JobBuffers> allocate(const graph::CompiledModel& model, uint32_t frames,
                                     device::View input_view, device::View output_view);

  runtime::JobBindings bindings() const;
  std::byte* input(uint32_t frame, size_t index) const;
  std::byte* output(uint32_t frame, size_t index) const;

 private:
  uint32_t frames_ = 0;
  std::vector<runtime::TensorBinding> inputs_, outputs_;
};

}  // namespace millrace::cli
