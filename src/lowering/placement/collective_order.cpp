#include "lowering/placement/collective_order.h"

#include <algorithm>

#include "graph/collective.h"

namespace millrace::lowering {

CollectiveOrder collective_order(const graph::Graph& graph) {
  const auto nodes = static_cast<uint32_t>(graph.nodes.size());
  CollectiveOrder order{std::vector<uint32_t>(nodes), std::vector<uint32_t>(nodes),
                        std::vector<uint32_t>(nodes, CollectiveOrder::kNone)};
  const auto is_collective = [](const graph::Node& node) { return graph::is_collective(node.op); };
  if (std::ranges::none_of(graph.nodes, is_collective)) return order;
  const auto readers = graph::consumers_of(graph);
  const auto for_each_reader = [&](uint32_t node, auto&& visit) {
    for (const graph::ValueId id : graph.nodes[node].outputs)
      for (const uint32_t reader : readers[id]) visit(reader);
  };
  // Nodes are in an order in which each comes after those that it depends on, so one pass forwards
  // finds `before`, and one pass backwards `next`.
  for (uint32_t node = 0; node < nodes; ++node) {
    if (is_collective(graph.nodes[node])) order.number[node] = ++order.count;
    const uint32_t last = std::max(order.before[node], order.number[node]);
    for_each_reader(node, [&](uint32_t reader) {
      order.before[reader] = std::max(order.before[reader], last);
    });
  }
  for (uint32_t node = nodes; node-- > 0;)
    for_each_reader(node, [&](uint32_t reader) {
      const uint32_t own = order.number[reader];
      order.next[node] = std::min(order.next[node], own != 0 ? own : order.next[reader]);
    });
  return order;
}

}  // namespace millrace::lowering
