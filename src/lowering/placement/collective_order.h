// The nodes that a graph computes before and beside its collectives, so that ranks have something
// to do while they wait for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The collectives of a graph are begun one after the other, in its order, and numbered from 1.
struct CollectiveOrder {
  static constexpr uint32_t kNone = 0xffffffffu;

  // By node.
  std::vector<uint32_t> number;  // number of a collective; 0 for other nodes
  std::vector<uint32_t> before;  // number of the last one the node depends on; 0: none
  std::vector<uint32_t> next;    // number of the first one depending on the node; kNone: none does
  uint32_t count = 0;

  // Whether the node, which is none itself, is to run before the collective `upcoming` is begun:
  // because one up to that needs it, or because it can run beside the one in front. kNone: all have
  // been begun.
  bool has_turn(uint32_t node, uint32_t upcoming) const {
    return upcoming == kNone || next[node] <= upcoming || before[node] + 1 < upcoming;
  }
};

// Requirement: the graph is valid.
CollectiveOrder collective_order(const graph::Graph& graph);

}  // namespace millrace::lowering
