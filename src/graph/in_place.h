// Finds the operands whose memory the operators of a graph reuse for their results.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

// Gives the same answers as in_place_operand() (memory_plan.h), for all nodes of a graph, but looks
// for inputs and outputs of the graph only once. The graph must outlive this, and must not change
// its values and boundary.
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
