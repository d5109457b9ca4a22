#include <algorithm>
#include <vector>

#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

void drop_dead_nodes(graph::Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (ValueId id : graph.outputs) needed[id] = true;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](ValueId id) { return needed[id]; })) continue;
    for (ValueId id : node->inputs) {
      if (id != kNoValue) needed[id] = true;
    }
    kept.push_back(std::move(*node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

// Calls visit(id) for every reference to a value.
template <class Visit>
void for_each_mention(graph::Graph& graph, Visit&& visit) {
  for (ValueId& id : graph.inputs) visit(id);
  for (ValueId& id : graph.outputs) visit(id);
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) {
      if (id != kNoValue) visit(id);
    }
    for (ValueId& id : node.outputs) visit(id);
  }
}

void drop_unnamed_values(graph::Graph& graph) {
  std::vector<ValueId> new_ids(graph.values.size(), kNoValue);
  for_each_mention(graph, [&](ValueId id) { new_ids[id] = 0; });
  std::vector<graph::Value> kept;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (new_ids[id] == kNoValue) continue;
    new_ids[id] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[id]));
  }
  graph.values = std::move(kept);
  for_each_mention(graph, [&](ValueId& id) { id = new_ids[id]; });
}

}  // namespace

Status eliminate_dead_code(graph::Graph& graph, const PassContext&) {
  drop_dead_nodes(graph);
  drop_unnamed_values(graph);
  return {};
}

}  // namespace millrace::lowering
