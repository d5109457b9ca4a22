#include "lowering/passes/spread_precision.h"

#include <algorithm>
#include <vector>

#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::ValueId;

bool is_exact(const Node& node) {
  return node.precision == graph::Precision::kFp32;
}

// Marks a move with FP32 if one of the values `ids` has an FP32 node at its other end (`exact`, by
// value).
void mark_move(Node& node, const std::vector<ValueId>& ids, const std::vector<bool>& exact) {
  const auto is_one = [&](ValueId id) { return id != graph::kNoValue && exact[id]; };
  if (only_moves(node.op) && std::ranges::any_of(ids, is_one))
    node.precision = graph::Precision::kFp32;
}

}  // namespace

void spread_full_precision(graph::Graph& graph) {
  std::vector<bool> made(graph.values.size()), read(graph.values.size());
  // Forwards from FP32 nodes to moves of their results, then backwards to moves of their operands.
  for (Node& node : graph.nodes) {
    mark_move(node, node.inputs, made);
    for (const ValueId id : node.outputs) made[id] = is_exact(node);
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    mark_move(*node, node->outputs, read);
    for (const ValueId id : node->inputs)
      if (id != graph::kNoValue && is_exact(*node)) read[id] = true;
  }
}

}  // namespace millrace::lowering
