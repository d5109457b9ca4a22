#include "lowering/passes/constants.h"

namespace millrace::lowering {

std::optional<std::span<const float>> floats_of(const graph::Value& value) {
  if (!value.constant || value.type != tensor::DataType::kFloat32) return std::nullopt;
  return value.constant->as<float>();
}

std::optional<float> scalar_of(const graph::Value& value) {
  const auto elements = floats_of(value);
  if (!elements || elements->size() != 1) return std::nullopt;
  return elements->front();
}

std::optional<std::vector<float>> channel_values(const graph::Value& value,
                                                 const graph::Dims& shape, size_t channel) {
  const auto elements = floats_of(value);
  if (!elements || value.shape.size() > shape.size()) return std::nullopt;
  const size_t missing = shape.size() - value.shape.size();
  for (size_t i = 0; i < value.shape.size(); ++i) {
    if (value.shape[i] == 1) continue;
    if (missing + i != channel || value.shape[i] != shape[channel]) return std::nullopt;
  }
  return std::vector<float>(elements->begin(), elements->end());
}

graph::ValueId add_floats(graph::Graph& graph, std::string name, graph::Dims shape,
                          const std::vector<float>& elements) {
  return graph.add_constant(std::move(name), tensor::DataType::kFloat32, std::move(shape),
                            graph::Constant::of(elements));
}

}  // namespace millrace::lowering
