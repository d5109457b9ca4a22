// The cost of running a few nodes on another kind of partition than those around them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// Looks at the graph once, so that asking about many groups of nodes takes time in proportion to
// their nodes. Requirement: the graph outlives this and does not change. For one thread.
class PlacementCost {
 public:
  explicit PlacementCost(const graph::Graph& graph);

  // Whether these nodes, by number, do enough work on the NPU to make up for bringing their
  // operands over from a CPU partition and their results back. Nodes that read an input of the
  // graph or make one of its outputs always are: on the CPU that tensor would have no HW view.
  bool is_worth_crossing(std::span<const uint32_t> nodes);

 private:
  bool is_at_the_boundary(std::span<const uint32_t> nodes) const;
  double crossing_of(std::span<const uint32_t> nodes);
  bool is_read_outside(graph::ValueId id) const;

  const graph::Graph& graph_;
  std::vector<std::vector<uint32_t>> readers_;  // by value: the nodes that read it
  std::vector<bool> is_input_, is_output_;      // by value: of the graph
  // The group that is asked about has a number; what belongs to it is marked with that.
  uint32_t group_ = 0;
  std::vector<uint32_t> group_of_node_, group_of_value_;  // the value is made or was counted
};

}  // namespace millrace::lowering
