#include "graph/precision_name.h"

#include <algorithm>
#include <variant>

namespace millrace::graph {
namespace {

// Whether the node computes on quantised values. A Requantise does not count: a model that only
// quantises its inputs computes in floating point.
bool works_on_quantised(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Requantise>(node.op)) return false;
  return std::ranges::any_of(
      node.inputs, [&](ValueId id) { return id != kNoValue && graph.values[id].quantisation; });
}

}  // namespace

std::string precision_name(const CompiledModel& model, Precision floats) {
  const bool integers = std::ranges::any_of(
      model.graph.nodes, [&](const Node& node) { return works_on_quantised(model.graph, node); });
  return integers ? "int8" : name_of(floats);
}

}  // namespace millrace::graph
