#include "runtime/jobs/recorded_job.h"

#include <exception>
#include <vector>

#include "record/record.h"
#include "tensor/data_type.h"
#include "tensor/tensor_shape.h"

namespace millrace::runtime {
namespace {

using Boundaries = std::vector<graph::Boundary>;

record::Tensor tensor_of(const graph::Boundary& boundary, const TensorBinding& binding) {
  const bool is_hw = binding.view == device::View::kHw && boundary.hw;
  record::Tensor tensor{.name = boundary.cpu.name, .view = is_hw ? View::kHw : View::kCpu};
  tensor.data = binding.data;
  if (!boundary.open) tensor.bytes = is_hw ? boundary.hw->bytes() : boundary.cpu.bytes();
  return tensor;
}

std::vector<record::Tensor> inputs_of(const Boundaries& boundaries, const JobBindings& job) {
  std::vector<record::Tensor> tensors;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const graph::Boundary& boundary = boundaries[i % boundaries.size()];
    record::Tensor& tensor = tensors.emplace_back(tensor_of(boundary, job.inputs[i]));
    if (!boundary.open || job.open_inputs[i].shape == nullptr) continue;
    tensor.shape = *job.open_inputs[i].shape;
    tensor.bytes = tensor::bytes_of(*tensor.shape, boundary.cpu.type);
  }
  return tensors;
}

// Where the device has a copy of its own, results are there when the job completes.
std::vector<record::Tensor> outputs_of(const Boundaries& boundaries, const JobBindings& job) {
  std::vector<record::Tensor> tensors;
  for (size_t i = 0; i < job.outputs.size(); ++i) {
    const graph::Boundary& boundary = boundaries[i % boundaries.size()];
    const TensorBinding& binding = job.outputs[i];
    record::Tensor& tensor = tensors.emplace_back(tensor_of(boundary, binding));
    if (binding.device_side != nullptr && binding.data != nullptr)
      tensor.data = binding.device_side->device_of(binding.data);
    if (!boundary.open) continue;
    tensor.open_output = true;
    tensor.bytes = job.open_outputs[i].bytes;
    tensor.written_shape = job.open_outputs[i].shape;
    tensor.element_bytes = tensor::size_of(boundary.cpu.type);
  }
  return tensors;
}

}  // namespace

void record_job(const graph::CompiledModel& model, const JobBindings& bindings) noexcept {
  try {
    record::begin_job(&model, bindings.frames, inputs_of(model.inputs, bindings),
                      outputs_of(model.outputs, bindings));
  } catch (const std::exception&) {
    // Memory is exhausted: the record does not have this job.
  }
}

}  // namespace millrace::runtime
