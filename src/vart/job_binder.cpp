// Checks the number of frames, the number of tensors of each frame, then view, size, alignment and
// writability of each tensor. Stops at the first failure.
#include "vart/job_binder.h"

#include <fmt/format.h>

#include <utility>

#include "device/in_place.h"
#include "tensor/data_type.h"
#include "vart/tensors/tensor_info.h"
#include "vart/tensors/tensor_state.h"

namespace millrace::vartml {

using ::vart::NpuTensor;
using ::vart::NpuTensorInfo;
using ApiStatus = ::vart::StatusCode;
using ::vart::TensorDirection;
using ::vart::TensorState;
using ::vart::TensorType;

namespace {

bool is_aligned(const void* data, ::vart::DataType type) {
  const size_t element = tensor::size_of(static_cast<tensor::DataType>(type));
  return reinterpret_cast<uintptr_t>(data) % element == 0;
}

}  // namespace

ApiStatus JobBinder::bind(const ModelTensors& model, const CallRules& rules,
                          const TensorTable& inputs, const TensorTable& outputs) {
  clear();
  rules_ = rules;
  const size_t batch_size = rules.batch_size;
  const auto wrong_count = [&](const char* what, size_t count, size_t low) {
    reason_ = fmt::format(
        "{} frames of {}s, but the number must be {} to {} (`millrace compile --batch` sets "
        "the batch size of a model)",
        count, what, low, batch_size);
  };
  if (inputs.empty() || inputs.size() > batch_size) {
    wrong_count("input", inputs.size(), 1);
    return ApiStatus::INVALID_INPUT;
  }
  if (outputs.size() < inputs.size() || outputs.size() > batch_size) {
    wrong_count("output", outputs.size(), inputs.size());
    return ApiStatus::INVALID_OUTPUT;
  }
  frames_ = static_cast<uint32_t>(inputs.size());
  if (!bind_side(model, TensorDirection::INPUT, inputs, inputs_)) return ApiStatus::INVALID_INPUT;
  if (!bind_side(model, TensorDirection::OUTPUT, outputs, outputs_))
    return ApiStatus::INVALID_OUTPUT;
  return ApiStatus::SUCCESS;
}

bool JobBinder::bind_side(const ModelTensors& model, TensorDirection direction,
                          const TensorTable& table, std::vector<runtime::TensorBinding>& bindings) {
  const size_t expected = model.infos(direction, TensorType::CPU).size();
  for (uint32_t frame = 0; frame < frames_; ++frame) {
    const std::vector<NpuTensor>& tensors = table[frame];
    if (tensors.size() != expected) {
      reason_ = fmt::format("frame {} has {} {} tensors, but the model has {}", frame,
                            tensors.size(), name_of_side(direction), expected);
      return false;
    }
    for (size_t i = 0; i < expected; ++i)
      if (!bind_tensor(model, direction, i, tensors[i], bindings.emplace_back())) return false;
  }
  return true;
}

bool JobBinder::bind_tensor(const ModelTensors& model, TensorDirection direction, size_t index,
                            const NpuTensor& tensor, runtime::TensorBinding& binding) {
  const std::string& name = model.infos(direction, TensorType::CPU)[index].name;
  const TensorState::Pointer& state = TensorState::of(tensor);
  if (state == nullptr) return refuse(direction, name, "the tensor is empty");
  const TensorType type = state->info().tensor_type;
  const NpuTensorInfo* const view = model.at(direction, type, index);
  if (view == nullptr) {
    reason_ = ModelTensors::without_hw_view(direction, name);
    return false;
  }
  const NpuTensorInfo& expected = *view;
  if (state->info().size_in_bytes < expected.size_in_bytes)
    return refuse(
        direction, name,
        fmt::format("the tensor has {} bytes, but the {} view needs {}",
                    state->info().size_in_bytes, to_string(type), expected.size_in_bytes));
  if (!is_aligned(state->data(), expected.data_type))
    return refuse(direction, name,
                  fmt::format("the memory is not aligned for {}", to_string(expected.data_type)));
  if (direction == TensorDirection::OUTPUT && !state->writable())
    return refuse(direction, name, "the memory is read-only");
  binding.view = type == TensorType::HW ? device::View::kHw : device::View::kCpu;
  if (!is_in_place(direction, index, binding.view)) [[unlikely]]
    return refuse(direction, name,
                  fmt::format("the {} view is converted ({} bytes), which strict_zero_copy forbids",
                              to_string(type), expected.size_in_bytes));
  note_mismatches(expected, state->info());
  binding.data = state->data();
  binding.owner = state;
  binding.access = state->access();
  if (type == TensorType::HW) binding.device_side = state->device_side();
  return true;
}

// True if the program uses the view without a conversion, or if conversions are allowed.
bool JobBinder::is_in_place(TensorDirection direction, size_t index, device::View view) const {
  if (rules_.in_place_on == nullptr) [[likely]]
    return true;
  const bool is_input = direction == TensorDirection::INPUT;
  return device::takes_in_place(*rules_.in_place_on,
                                is_input ? device::Direction::kInput : device::Direction::kOutput,
                                index, view);
}

void JobBinder::note_mismatches(const NpuTensorInfo& expected, const NpuTensorInfo& given) {
  const bool passed_on =
      given.direction == TensorDirection::OUTPUT && expected.direction == TensorDirection::INPUT;
  const bool overwritten =
      given.direction == TensorDirection::INPUT && expected.direction == TensorDirection::OUTPUT;
  if (overwritten)
    mismatches_.push_back({Mismatch::kOverwritten, &expected, &given});
  else if (given.name != expected.name && !passed_on)  // an output of another model may differ
    mismatches_.push_back({Mismatch::kName, &expected, &given});
  if (given.tensor_type != expected.tensor_type)
    mismatches_.push_back({Mismatch::kView, &expected, &given});
  else if (given.data_type != expected.data_type || given.memory_layout != expected.memory_layout)
    mismatches_.push_back({Mismatch::kDescription, &expected, &given});
}

bool JobBinder::refuse(TensorDirection direction, const std::string& name, std::string why) {
  reason_ = fmt::format("{} \"{}\": {}", name_of_side(direction), name, why);
  return false;
}

void JobBinder::clear() noexcept {
  inputs_.clear();
  outputs_.clear();
  mismatches_.clear();
  frames_ = 0;
}

}  // namespace millrace::vartml
