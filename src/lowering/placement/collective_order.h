// CollectiveOrder: which nodes of a graph run before and beside its collectives, so that ranks
// compute while they wait for each other. It follows from the graph alone: thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The dependences between the nodes and the collectives of a graph. Collectives are numbered from
// 1, in the order of the graph.
struct CollectiveOrder {
  static constexpr uint32_t kNone = 0xffffffffu;

  // Indexed by node.
  std::vector<uint32_t> number;  // the number of the node as a collective; 0: it is none
  std::vector<uint32_t> before;  // the last collective that the node depends on; 0: none
  std::vector<uint32_t> next;    // the first collective that depends on the node; kNone: none
  uint32_t count = 0;

  // Whether the node, which is no collective, should run before collective `upcoming` begins:
  // either because that one or an earlier one depends on it, or because it does not depend on
  // collective `upcoming - 1` and can therefore run beside it. `upcoming` is kNone if all
  // collectives have begun.
  bool has_turn(uint32_t node, uint32_t upcoming) const {
    return upcoming == kNone || next[node] <= upcoming || before[node] + 1 < upcoming;
  }
};

// Requirement: the graph is valid.
CollectiveOrder collective_order(const graph::Graph& graph);

}  // namespace millrace::lowering
