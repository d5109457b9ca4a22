#include "quantise/rewrite/full_precision.h"

#include <algorithm>

#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::quantise {

using graph::Node;
using graph::ValueId;

graph::Graph with_full_precision(graph::Graph graph, const std::vector<bool>& nodes) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (nodes[i]) graph.nodes[i].precision = graph::Precision::kFp32;
  const auto spread = [](Node& node, const std::vector<ValueId>& ids,
                         const std::vector<bool>& exact) {
    const auto is_exact = [&](ValueId id) { return id != graph::kNoValue && exact[id]; };
    if (lowering::only_moves(node.op) && std::ranges::any_of(ids, is_exact))
      node.precision = graph::Precision::kFp32;
  };
  std::vector<bool> made(graph.values.size()), read(graph.values.size());
  for (Node& node : graph.nodes) {
    spread(node, node.inputs, made);
    for (const ValueId id : node.outputs) made[id] = node.precision.has_value();
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    spread(*node, node->outputs, read);
    for (const ValueId id : node->inputs)
      if (id != graph::kNoValue && node->precision) read[id] = true;
  }
  return graph;
}

}  // namespace millrace::quantise
