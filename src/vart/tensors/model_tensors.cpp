#include "vart/tensors/model_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vart/tensors/tensor_info.h"

namespace millrace::vartml {

using ::vart::NpuTensorInfo;
using ::vart::TensorDirection;
using ::vart::TensorType;

namespace {

constexpr size_t kNamesShown = 8;

NpuTensorInfo named(NpuTensorInfo info, const std::string& prefix) {
  info.name.insert(0, prefix);
  return info;
}

}  // namespace

ModelTensors::ModelTensors(const graph::CompiledModel& model, const std::string& prefix) {
  add(model.inputs, TensorDirection::INPUT, prefix);
  add(model.outputs, TensorDirection::OUTPUT, prefix);
}

void ModelTensors::add(const std::vector<graph::Boundary>& boundaries, TensorDirection direction,
                       const std::string& prefix) {
  auto& [cpu, hw] = infos_[static_cast<size_t>(direction)];
  std::vector<size_t>& hw_positions = hw_positions_[static_cast<size_t>(direction)];
  for (const graph::Boundary& boundary : boundaries) {
    cpu.push_back(named(make_tensor_info(boundary.cpu, direction, TensorType::CPU), prefix));
    hw_positions.push_back(boundary.hw ? hw.size() : kNone);
    if (boundary.hw)
      hw.push_back(named(make_tensor_info(*boundary.hw, direction, TensorType::HW), prefix));
    ::vart::QuantParameters& quantisation = quantisation_[prefix + boundary.cpu.name];
    quantisation.scale = boundary.quant.scale;
    quantisation.zero_point = boundary.quant.zero_point;
    quantisation.rounding_mode = static_cast<::vart::RoundingMode>(boundary.quant.rounding);
  }
}

const std::vector<NpuTensorInfo>& ModelTensors::infos(TensorDirection direction,
                                                      TensorType type) const noexcept {
  return infos_[direction == TensorDirection::OUTPUT][type == TensorType::HW];
}

const NpuTensorInfo* ModelTensors::at(TensorDirection direction, TensorType type,
                                      size_t index) const noexcept {
  const Infos& list = infos(direction, type);
  if (type != TensorType::HW) return &list[index];
  const size_t position = hw_positions_[direction == TensorDirection::OUTPUT][index];
  return position == kNone ? nullptr : &list[position];
}

const NpuTensorInfo* ModelTensors::find(const std::string& name, TensorType type) const {
  if (type != TensorType::CPU && type != TensorType::HW) return nullptr;
  for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT}) {
    const Infos& list = infos(direction, type);
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const NpuTensorInfo& info) { return info.name == name; });
    if (found != list.end()) return &*found;
  }
  return nullptr;
}

std::string ModelTensors::why_not_found(const std::string& name, TensorType type) const {
  std::vector<std::string> names;
  for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT})
    for (const NpuTensorInfo& info : infos(direction, TensorType::CPU)) {
      if (info.name == name && type == TensorType::HW) return without_hw_view(direction, name);
      if (info.name == name)
        return fmt::format("tensor \"{}\" has no view {}: CPU is 0, HW is 1", name,
                           static_cast<int>(type));
      names.push_back(fmt::format("\"{}\"", info.name));
    }
  const size_t shown = std::min(names.size(), kNamesShown), more = names.size() - shown;
  return fmt::format("the model has no tensor \"{}\": it has {}{}", name,
                     fmt::join(names.begin(), names.begin() + shown, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string ModelTensors::without_hw_view(TensorDirection direction, const std::string& name) {
  return fmt::format("{} \"{}\" lies on a CPU partition and has no HW view",
                     name_of_side(direction), name);
}

const ::vart::QuantParameters* ModelTensors::quantisation(const std::string& name) const {
  const auto found = quantisation_.find(name);
  return found == quantisation_.end() ? nullptr : &found->second;
}

void ModelTensors::check(const RunnerOptions& options, const RunnerLog& log) const {
  check_side(TensorDirection::INPUT, options.input_type, options.input_types, log);
  check_side(TensorDirection::OUTPUT, options.output_type, options.output_types, log);
}

void ModelTensors::check_side(TensorDirection direction, TensorType type,
                              const std::map<std::string, TensorType>& overrides,
                              const RunnerLog& log) const {
  const char* side = name_of_side(direction);
  const Infos& tensors = infos(direction, TensorType::CPU);
  for (const auto& entry : overrides) {
    const std::string& name = entry.first;
    const auto is_named = [&](const NpuTensorInfo& info) { return info.name == name; };
    if (std::none_of(tensors.begin(), tensors.end(), is_named))
      log.write(
          LogLevel::kWarning,
          fmt::format("option \"{0}_tensor_type.{1}\" is ignored: the model has no {0} \"{1}\"",
                      side, name));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = tensors[i].name;
    const auto override_of = overrides.find(name);
    const TensorType wanted = override_of == overrides.end() ? type : override_of->second;
    if (at(direction, wanted, i) != nullptr) continue;
    // If no tensor of this direction has an HW view, the option for all of them suffices.
    const bool mixed = !infos(direction, TensorType::HW).empty();
    throw std::runtime_error(fmt::format("{}: create the runner with {}_tensor_type{} \"CPU\"",
                                         without_hw_view(direction, name), side,
                                         mixed ? "." + name : ""));
  }
}

}  // namespace millrace::vartml
