// ModelTensors: the tensors of a model as the API describes them, in both views, and where each
// memory bound to them has to fit. Immutable and thread-safe.
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
  explicit ModelTensors(const graph::CompiledModel& model);

  // In the model's order. The HW list leaves out the tensors that lie on a CPU partition.
  const std::vector<::vart::NpuTensorInfo>& infos(::vart::TensorDirection direction,
                                                  ::vart::TensorType type) const noexcept;
  // The tensor at `index` of that side, counted as in the CPU list, which has them all. Null when
  // it has no such view; without_hw_view() says why.
  const ::vart::NpuTensorInfo* at(::vart::TensorDirection direction, ::vart::TensorType type,
                                  size_t index) const noexcept;
  // Null when there is no such tensor in that view; why_not_found() says why.
  const ::vart::NpuTensorInfo* find(const std::string& name, ::vart::TensorType type) const;
  std::string why_not_found(const std::string& name, ::vart::TensorType type) const;
  // Why the tensor of that name has no HW view.
  static std::string without_hw_view(::vart::TensorDirection direction, const std::string& name);
  // Null when there is no such tensor, in any view.
  const ::vart::QuantParameters* quantisation(const std::string& name) const;

  // Throws std::runtime_error when the options ask for an HW view that the model does not have.
  // Types of tensors that are not there are ignored, with a line in the log.
  void check(const RunnerOptions& options, const RunnerLog& log) const;

 private:
  using Infos = std::vector<::vart::NpuTensorInfo>;

  void add(const std::vector<graph::Boundary>& boundaries, ::vart::TensorDirection direction);
  void check_side(::vart::TensorDirection direction, ::vart::TensorType type,
                  const std::map<std::string, ::vart::TensorType>& overrides,
                  const RunnerLog& log) const;

  std::array<std::array<Infos, 2>, 2> infos_;  // by direction, by type
  // Position of each tensor in the HW list, by direction and index; kNone if it is not there.
  static constexpr size_t kNone = SIZE_MAX;
  std::array<std::vector<size_t>, 2> hw_positions_;
  std::unordered_map<std::string, ::vart::QuantParameters> quantisation_;
};

}  // namespace millrace::vartml
