// The tensors of one job as the programs hold them: a buffer per boundary tensor and frame, in one
// view, filled from files and read for printing.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "memory/buffer.h"
#include "runtime/job.h"

namespace millrace::cli {

// The description of a boundary tensor in `view`; the CPU view where there is no other.
const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view);

// A tensor's name as part of a file name: '/' becomes '-', and a leading one is dropped.
std::string file_name_part(std::string tensor_name);

class ModelTensors {
 public:
  // Zero-filled buffers for `frames` frames of a model.
  static Result<ModelTensors> allocate(const graph::CompiledModel& model, uint32_t frames,
                                       device::View input_view, device::View output_view);

  runtime::JobBindings bindings() const;
  std::byte* input(uint32_t frame, size_t index) const;
  std::byte* output(uint32_t frame, size_t index) const;

 private:
  uint32_t frames_ = 0;
  std::vector<runtime::TensorBinding> inputs_, outputs_;
};

}  // namespace millrace::cli
