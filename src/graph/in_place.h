// Finds the operands whose memory operators can overwrite with their results. A const object may be
// used by many threads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

// Gives the same answers as in_place_operand() (memory_plan.h) for all nodes of a graph, but
// collects the inputs and outputs of the graph only once. The graph must outlive this object, and
// its values, inputs and outputs must not change meanwhile.
class InPlaceOperands {
 public:
  explicit InPlaceOperands(const Graph& graph);

  // The index of the operand that the node can overwrite, as in in_place_operand().
  std::optional<size_t> of(const Node& node) const;

 private:
  bool can_hold_output(const Node& node, size_t index) const;

  const Graph& graph_;
  std::vector<bool> is_boundary_;  // by value
};

}  // namespace millrace::graph
