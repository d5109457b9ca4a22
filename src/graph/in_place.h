// Which operands the operators of a graph write their results over.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

// The same as in_place_operand() (memory_plan.h) of each node, for all nodes of a graph: it looks
// for inputs and outputs of the graph once. The graph outlives this, and keeps its values and
// boundary.
class InPlaceOperands {
 public:
  explicit InPlaceOperands(const Graph& graph);

  std::optional<size_t> of(const Node& node) const;

 private:
  bool can_hold_output(const Node& node, size_t index) const;

  const Graph& graph_;
  std::vector<bool> is_boundary_;  // by value
};

}  // namespace millrace::graph
