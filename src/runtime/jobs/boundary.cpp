// Checks and conversions of boundary tensors. The error messages name the tensor as "input" or
// "output" with its name, and say what was bound and what the model expects.
#include "runtime/jobs/boundary.h"

#include <fmt/format.h>

#include <utility>

#include "device/in_place.h"
#include "tensor/tensor_shape.h"

namespace millrace::runtime {
namespace {

using device::Direction;
using device::View;

const char* name_of(View view) {
  return view == View::kHw ? "HW" : "CPU";
}

size_t index_of(View view) {
  return static_cast<size_t>(view);
}

// Returns the memory that the program reads or writes: the device's own copy, if there is one.
void* memory_of(const TensorBinding& binding) noexcept {
  return binding.device_side == nullptr ? binding.data
                                        : binding.device_side->device_of(binding.data);
}

}  // namespace

Result<Boundary> Boundary::plan(const device::Program& program, Direction direction, size_t index) {
  const bool is_input = direction == Direction::kInput;
  const graph::CompiledModel& model = program.model();
  const graph::Boundary& tensor = is_input ? model.inputs[index] : model.outputs[index];

  Boundary result;
  result.label_ = fmt::format("{} \"{}\"", is_input ? "input" : "output", tensor.cpu.name);
  const auto describe = [&](View view, const tensor::TensorDesc& desc) {
    result.bytes_[index_of(view)] = tensor.open ? 0 : desc.bytes();
    result.element_bytes_[index_of(view)] = tensor::size_of(desc.type);
    result.accepts_[index_of(view)] = program.accepts(direction, index, view);
    result.in_place_[index_of(view)] = device::takes_in_place(program, direction, index, view);
  };
  describe(View::kCpu, tensor.cpu);
  if (tensor.hw) describe(View::kHw, *tensor.hw);

  result.open_ = tensor.open;
  result.input_ = is_input;
  result.type_ = tensor.cpu.type;
  if (tensor.open) result.shape_ = tensor.cpu.shape;
  const bool cpu = result.direct(View::kCpu);
  const bool hw = result.direct(View::kHw);
  if (!cpu && !hw)
    return internal_error(fmt::format("the program accepts no view of {}", result.label_));
  if (tensor.hw && cpu != hw) {
    Result<tensor::Conversion> conversion =
        tensor::Conversion::plan(tensor.cpu, *tensor.hw, tensor.quant);
    if (!conversion.ok()) return conversion.status().with_context(result.label_);
    result.conversion_ = *std::move(conversion);
  }
  return result;
}

Status Boundary::check_closely(const TensorBinding& binding) const {
  const size_t view = index_of(binding.view);
  if (view > 1 || element_bytes_[view] == 0)
    return invalid_argument(fmt::format("{} has no {} view", label_, name_of(binding.view)));
  if (binding.data == nullptr && bytes_[view] != 0) return no_memory();
  if (reinterpret_cast<uintptr_t>(binding.data) % element_bytes_[view] != 0)
    return invalid_argument(
        fmt::format("{} is bound to memory that is not aligned to its {} byte "
                    "elements",
                    label_, element_bytes_[view]));
  return {};
}

Status Boundary::check_open(const TensorBinding& binding, const OpenTensor& tensor) const {
  if (!open_) return {};
  size_t needed = tensor.bytes;
  if (input_) {
    MILLRACE_RETURN_IF_ERROR(check_shape(tensor.shape));
    needed = tensor::bytes_of(*tensor.shape, type_);
    if (needed > tensor.bytes)
      return invalid_argument(fmt::format("{} takes {} bytes in the shape {}, the memory has {}",
                                          label_, needed, tensor::to_string(*tensor.shape),
                                          tensor.bytes));
  }
  return binding.data == nullptr && needed != 0 ? no_memory() : Status();
}

Status Boundary::check_shape(const TensorShape* shape) const {
  if (shape == nullptr)
    return invalid_argument(
        fmt::format("{} has open dimensions, and the job does not state its shape", label_));
  const bool any_rank = shape_.empty();
  if (any_rank ? tensor::is_complete(*shape) : tensor::fits(*shape, shape_)) return {};
  return invalid_argument(fmt::format("{} cannot have the shape {} of rank {}; the model takes {}",
                                      label_, tensor::to_string(*shape), shape->rank,
                                      any_rank ? "any shape" : tensor::to_string(shape_)));
}

Status Boundary::no_memory() const {
  return invalid_argument(fmt::format("{} is bound to no memory", label_));
}

Status Boundary::check_in_place(const TensorBinding& binding) const {
  if (in_place(binding.view)) return {};
  return invalid_argument(
      fmt::format("{} is given in its {} view, which is converted ({} bytes), and strict zero-copy "
                  "forbids that: give it in the {} view",
                  label_, name_of(binding.view), bytes_[index_of(binding.view)],
                  name_of(other_view(binding.view))));
}

View Boundary::other_view(View view) const noexcept {
  return view == View::kHw ? View::kCpu : View::kHw;
}

void Boundary::count(View view, BoundaryConversions& conversions) const noexcept {
  ++conversions.tensors;
  conversions.bytes += bytes_[index_of(view)];
}

Status Boundary::make_staging(View view, memory::Buffer& staging) const {
  if (staging || bytes_[index_of(view)] == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      staging, memory::Buffer::allocate(bytes_[index_of(view)], memory::BufferKind::kHeap));
  return {};
}

Status Boundary::stage_input(const TensorBinding& binding, memory::Buffer& staging,
                             BoundaryConversions& conversions, device::Binding& staged) const {
  void* const data = memory_of(binding);
  staged = {data, binding.view};
  if (direct(binding.view)) [[likely]] {
    if (!in_place(binding.view)) count(binding.view, conversions);
    return {};
  }
  const View taken = other_view(binding.view);
  MILLRACE_RETURN_IF_ERROR(make_staging(taken, staging));
  if (taken == View::kHw)
    conversion_->to_hw(data, staging.data());
  else
    conversion_->to_cpu(data, staging.data());
  count(binding.view, conversions);
  staged = {staging.data(), taken};
  return {};
}

Status Boundary::stage_output(const TensorBinding& binding, memory::Buffer& staging,
                              device::Binding& staged) const {
  staged = {memory_of(binding), binding.view};
  if (direct(binding.view)) [[likely]]
    return {};
  const View taken = other_view(binding.view);
  MILLRACE_RETURN_IF_ERROR(make_staging(taken, staging));
  staged = {staging.data(), taken};
  return {};
}

void Boundary::finish_output(const TensorBinding& binding, const memory::Buffer& staging,
                             BoundaryConversions& conversions) const noexcept {
  if (direct(binding.view)) {
    if (!in_place(binding.view)) count(binding.view, conversions);
    return;
  }
  if (binding.view == View::kHw)
    conversion_->to_hw(staging.data(), memory_of(binding));
  else
    conversion_->to_cpu(staging.data(), memory_of(binding));
  count(binding.view, conversions);
}

}  // namespace millrace::runtime
