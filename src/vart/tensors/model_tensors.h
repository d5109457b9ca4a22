// ModelTensors: the API's descriptions of the inputs and outputs of a model, in the CPU view and in
// the HW view. Immutable and thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/compiled_model.h"
#include "vart/files/options.h"
#include "vart/runner_log.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

class ModelTensors {
 public:
  // The names here are those of the model with `prefix` before each.
  ModelTensors(const graph::CompiledModel& model, const std::string& prefix);

  // Returns the descriptions in the model's order. The HW list omits tensors that belong to a CPU
  // partition, so indices in the two lists may differ.
  const std::vector<::vart::NpuTensorInfo>& infos(::vart::TensorDirection direction,
                                                  ::vart::TensorType type) const noexcept;
  // Returns the description of the tensor at `index` in the CPU list. Null when that tensor has no
  // view `type`; without_hw_view() returns the message for that.
  const ::vart::NpuTensorInfo* at(::vart::TensorDirection direction, ::vart::TensorType type,
                                  size_t index) const noexcept;
  // Returns null when no tensor of that name has that view; why_not_found() returns the message.
  const ::vart::NpuTensorInfo* find(const std::string& name, ::vart::TensorType type) const;
  std::string why_not_found(const std::string& name, ::vart::TensorType type) const;
  // Returns the message for a tensor that has no HW view.
  static std::string without_hw_view(::vart::TensorDirection direction, const std::string& name);
  // Returns the scale and zero point of a tensor; null when no tensor has the name.
  const ::vart::QuantParameters* quantisation(const std::string& name) const;

  // Throws std::runtime_error when the options request an HW view that the model does not have.
  // Options for tensors that the model does not have are ignored, with a warning in the log.
  void check(const RunnerOptions& options, const RunnerLog& log) const;

 private:
  using Infos = std::vector<::vart::NpuTensorInfo>;

  void add(const std::vector<graph::Boundary>& boundaries, ::vart::TensorDirection direction,
           const std::string& prefix);
  void check_side(::vart::TensorDirection direction, ::vart::TensorType type,
                  const std::map<std::string, ::vart::TensorType>& overrides,
                  const RunnerLog& log) const;

  std::array<std::array<Infos, 2>, 2> infos_;  // by direction and type
  // The position of each tensor in the HW list, by direction and index; kNone if it has none.
  static constexpr size_t kNone = SIZE_MAX;
  std::array<std::vector<size_t>, 2> hw_positions_;
  std::unordered_map<std::string, ::vart::QuantParameters> quantisation_;
};

}  // namespace millrace::vartml
