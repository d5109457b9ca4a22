#include "graph/work.h"

#include <variant>

namespace millrace::graph {

double multiplications_per_element(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Conv>(node.op)) {
    const Value& weights = graph.values[node.inputs[1]];
    return static_cast<double>(weights.elements()) / static_cast<double>(weights.shape[0]);
  }
  if (const auto* product = std::get_if<MatMul>(&node.op)) {
    const Dims& a = graph.values[node.inputs[0]].shape;
    return static_cast<double>(product->transpose_a && a.size() > 1 ? a[a.size() - 2] : a.back());
  }
  return 0;
}

}  // namespace millrace::graph
