// PlacementCost: whether an NPU partition between CPU partitions does enough work to be worth the
// transfer of its values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The constructor indexes the graph once, so a question about a group of nodes takes time in
// proportion to the group. Requirement: the graph outlives this and does not change. For one
// thread.
class PlacementCost {
 public:
  explicit PlacementCost(const graph::Graph& graph);

  // Whether these nodes, given by index, do enough work on the NPU to make up for the transfer of
  // their operands from a CPU partition and of their results back. Always true for nodes that read
  // an input of the graph or make one of its outputs, since on the CPU that tensor would have no HW
  // view.
  bool is_worth_crossing(std::span<const uint32_t> nodes);

 private:
  bool is_at_the_boundary(std::span<const uint32_t> nodes) const;
  double crossing_of(std::span<const uint32_t> nodes);
  bool is_read_outside(graph::ValueId id) const;

  const graph::Graph& graph_;
  std::vector<std::vector<uint32_t>> readers_;  // by value: the nodes that read it
  std::vector<bool> is_input_, is_output_;      // by value: of the graph
  // Marks: nodes and values with the number of the current group belong to it. A new group gets a
  // new number, so the marks need not be cleared. A value is marked if the group makes it, or once
  // it has been counted.
  uint32_t group_ = 0;
  std::vector<uint32_t> group_of_node_, group_of_value_;
};

}  // namespace millrace::lowering
