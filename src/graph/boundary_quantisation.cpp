#include "graph/boundary_quantisation.h"

#include <vector>

namespace millrace::graph {
namespace {

using tensor::DataType;

// Whether the value is FLOAT32 and not quantised.
bool is_number(const Value& value) {
  return value.type == DataType::kFloat32 && !value.quantisation;
}

std::optional<BoundaryQuantisation> quantisation_of(const Value& value) {
  const bool is_byte = value.type == DataType::kInt8 || value.type == DataType::kUint8;
  if (!is_byte || !value.quantisation || value.quantisation->is_per_axis()) return std::nullopt;
  return BoundaryQuantisation{value.type,
                              {value.quantisation->scales[0], value.quantisation->zero_points[0],
                               tensor::Rounding::kNearestEven}};
}

}  // namespace

std::vector<std::optional<BoundaryQuantisation>> boundary_quantisations(const Graph& graph) {
  std::vector<std::optional<BoundaryQuantisation>> result(graph.values.size());
  const auto readers = consumers_of(graph);
  for (const ValueId id : graph.inputs) {
    if (!is_number(graph.values[id]) || readers[id].size() != 1) continue;
    const Node& reader = graph.nodes[readers[id][0]];
    if (std::holds_alternative<Requantise>(reader.op))
      result[id] = quantisation_of(graph.values[reader.outputs[0]]);
  }
  std::vector<bool> is_output(graph.values.size());
  for (const ValueId id : graph.outputs) is_output[id] = true;
  for (const Node& node : graph.nodes) {
    const ValueId id = node.outputs[0];
    if (!std::holds_alternative<Requantise>(node.op) || !is_number(graph.values[id])) continue;
    if (is_output[id]) result[id] = quantisation_of(graph.values[node.inputs[0]]);
  }
  return result;
}

}  // namespace millrace::graph
