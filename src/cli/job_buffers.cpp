#include "cli/job_buffers.h"

#include "cli/boundary_tensor.h"

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

Result<JobBuffers> JobBuffers::allocate(const graph::CompiledModel& model, uint32_t frames,
                                        device::View input_view, device::View output_view) {
  JobBuffers buffers;
  buffers.frames_ = frames;
  MILLRACE_ASSIGN_OR_RETURN(buffers.inputs_, allocate_side(model.inputs, frames, input_view));
  MILLRACE_ASSIGN_OR_RETURN(buffers.outputs_, allocate_side(model.outputs, frames, output_view));
  return buffers;
}

runtime::JobBindings JobBuffers::bindings() const {
  return {frames_, inputs_, outputs_};
}

std::byte* JobBuffers::input(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(inputs_[frame * (inputs_.size() / frames_) + index].data);
}

std::byte* JobBuffers::output(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(outputs_[frame * (outputs_.size() / frames_) + index].data);
}

}  // namespace millrace::cli
