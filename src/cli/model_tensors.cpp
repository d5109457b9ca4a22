#include "cli/model_tensors.h"

#include <algorithm>

namespace millrace::cli {
namespace {

Result<std::vector<runtime::TensorBinding>> allocate_side(
    const std::vector<graph::Boundary>& boundaries, uint32_t frames, device::View view) {
  std::vector<runtime::TensorBinding> bindings;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    for (const graph::Boundary& boundary : boundaries) {
      const device::View actual = boundary.hw ? view : device::View::kCpu;
      MILLRACE_ASSIGN_OR_RETURN(
          const memory::Buffer buffer,
          memory::Buffer::allocate(desc_in(boundary, actual).bytes(), memory::BufferKind::kHeap));
      bindings.push_back({buffer.data(), actual, buffer.owner()});
    }
  }
  return bindings;
}

}  // namespace

const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view) {
  return view == device::View::kHw && boundary.hw ? *boundary.hw : boundary.cpu;
}

std::string file_name_part(std::string tensor_name) {
  std::replace(tensor_name.begin(), tensor_name.end(), '/', '-');
  if (tensor_name.starts_with('-')) tensor_name.erase(0, 1);
  return tensor_name;
}

Result<ModelTensors> ModelTensors::allocate(const graph::CompiledModel& model, uint32_t frames,
                                            device::View input_view, device::View output_view) {
  ModelTensors tensors;
  tensors.frames_ = frames;
  MILLRACE_ASSIGN_OR_RETURN(tensors.inputs_, allocate_side(model.inputs, frames, input_view));
  MILLRACE_ASSIGN_OR_RETURN(tensors.outputs_, allocate_side(model.outputs, frames, output_view));
  return tensors;
}

runtime::JobBindings ModelTensors::bindings() const {
  return {frames_, inputs_, outputs_};
}

std::byte* ModelTensors::input(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(inputs_[frame * (inputs_.size() / frames_) + index].data);
}

std::byte* ModelTensors::output(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(outputs_[frame * (outputs_.size() / frames_) + index].data);
}

}  // namespace millrace::cli
