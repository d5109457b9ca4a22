#include "cli/inputs/job_buffers.h"

#include <algorithm>
#include <utility>

#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/open_tensors.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {
namespace {

// The initial size in bytes of the buffer of an open output.
constexpr size_t kFirstRoom = size_t{1} << 16;

Result<runtime::TensorBinding> allocate_tensor(size_t bytes, device::View view) {
  MILLRACE_ASSIGN_OR_RETURN(
      const memory::Buffer buffer,
      memory::Buffer::allocate(std::max<size_t>(bytes, 1), memory::BufferKind::kHeap));
  return runtime::TensorBinding{buffer.data(), view, buffer.owner()};
}

Result<std::vector<runtime::TensorBinding>> allocate_side(
    const std::vector<graph::Boundary>& boundaries, uint32_t frames, device::View view) {
  std::vector<runtime::TensorBinding> bindings;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    for (const graph::Boundary& boundary : boundaries) {
      const device::View actual = boundary.hw ? view : device::View::kCpu;
      const size_t bytes = boundary.open ? kFirstRoom : desc_in(boundary, actual).bytes();
      MILLRACE_ASSIGN_OR_RETURN(runtime::TensorBinding binding, allocate_tensor(bytes, actual));
      bindings.push_back(std::move(binding));
    }
  }
  return bindings;
}

bool any_open(const graph::CompiledModel& model) {
  return std::ranges::any_of(model.inputs, &graph::Boundary::open) ||
         std::ranges::any_of(model.outputs, &graph::Boundary::open);
}

}  // namespace

Result<JobBuffers> JobBuffers::allocate(const graph::CompiledModel& model,
                                        const std::vector<graph::Boundary>& inputs, uint32_t frames,
                                        device::View input_view, device::View output_view) {
  JobBuffers buffers;
  buffers.frames_ = frames;
  buffers.output_boundaries_ = model.outputs;
  MILLRACE_ASSIGN_OR_RETURN(buffers.inputs_, allocate_side(inputs, frames, input_view));
  MILLRACE_ASSIGN_OR_RETURN(buffers.outputs_, allocate_side(model.outputs, frames, output_view));
  buffers.bindings_.frames = frames;
  buffers.bindings_.inputs = buffers.inputs_;
  buffers.bindings_.outputs = buffers.outputs_;
  if (!any_open(model)) return buffers;
  buffers.input_shapes_.resize(buffers.inputs_.size());
  for (size_t i = 0; i < buffers.inputs_.size(); ++i) {
    const tensor::TensorDesc& cpu = inputs[i % inputs.size()].cpu;
    buffers.input_shapes_[i] = tensor::shape_of(cpu.shape);
    buffers.open_inputs_.push_back({cpu.bytes(), &buffers.input_shapes_[i]});
  }
  buffers.output_shapes_.resize(buffers.outputs_.size());
  for (TensorShape& shape : buffers.output_shapes_)
    buffers.open_outputs_.push_back({kFirstRoom, &shape});
  buffers.bindings_.open_inputs = buffers.open_inputs_;
  buffers.bindings_.open_outputs = buffers.open_outputs_;
  return buffers;
}

Status JobBuffers::execute(runtime::Session& session) {
  // A device may report the outputs that are too small one at a time.
  for (size_t attempt = 0; attempt < outputs_.size(); ++attempt) {
    const Status status = session.execute(bindings());
    if (status.code() != StatusCode::kInvalidArgument) return status;
    MILLRACE_ASSIGN_OR_RETURN(const bool grown, grow());
    if (!grown) return status;
  }
  return session.execute(bindings());
}

Result<bool> JobBuffers::grow() {
  bool grown = false;
  for (size_t i = 0; i < open_outputs_.size(); ++i) {
    const graph::Boundary& boundary = output_boundaries_[i % output_boundaries_.size()];
    const size_t needed = tensor::bytes_of(output_shapes_[i], boundary.cpu.type);
    if (!boundary.open || needed <= open_outputs_[i].bytes) continue;
    MILLRACE_ASSIGN_OR_RETURN(outputs_[i], allocate_tensor(needed, device::View::kCpu));
    open_outputs_[i].bytes = needed;
    grown = true;
  }
  return grown;
}

graph::Boundary JobBuffers::output_boundary(uint32_t frame, size_t index) const {
  const graph::Boundary& boundary = output_boundaries_[index];
  if (!boundary.open) return boundary;
  const TensorShape& shape = output_shapes_[frame * output_boundaries_.size() + index];
  return settled(boundary, {shape.dims.begin(), shape.dims.begin() + shape.rank});
}

std::byte* JobBuffers::input(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(inputs_[frame * (inputs_.size() / frames_) + index].data);
}

std::byte* JobBuffers::output(uint32_t frame, size_t index) const {
  return static_cast<std::byte*>(outputs_[frame * (outputs_.size() / frames_) + index].data);
}

}  // namespace millrace::cli
