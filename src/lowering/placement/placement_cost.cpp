#include "lowering/placement/placement_cost.h"

#include <algorithm>

#include "graph/work.h"

namespace millrace::lowering {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// Work and transfers are measured in elements that are read and written once.
double elements_of(const Graph& graph, ValueId id) {
  return static_cast<double>(graph.values[id].elements());
}

double work_of(const Graph& graph, const Node& node) {
  // About as many multiplications as a vector unit performs in the time that moving one element
  // takes.
  constexpr double kMultiplicationsPerMove = 16;
  double elements = 0;
  for (const ValueId id : node.outputs) elements += elements_of(graph, id);
  return elements * (1 + graph::multiplications_per_element(graph, node) / kMultiplicationsPerMove);
}

}  // namespace

PlacementCost::PlacementCost(const Graph& graph)
    : graph_(graph),
      readers_(graph.values.size()),
      is_input_(graph.values.size()),
      is_output_(graph.values.size()),
      group_of_node_(graph.nodes.size()),
      group_of_value_(graph.values.size()) {
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].inputs)
      if (id != graph::kNoValue && !graph.values[id].constant) readers_[id].push_back(i);
  for (const ValueId id : graph.inputs) is_input_[id] = true;
  for (const ValueId id : graph.outputs) is_output_[id] = true;
}

bool PlacementCost::is_at_the_boundary(std::span<const uint32_t> nodes) const {
  return std::ranges::any_of(nodes, [&](uint32_t number) {
    const Node& node = graph_.nodes[number];
    return std::ranges::any_of(node.outputs, [&](ValueId id) { return is_output_[id]; }) ||
           std::ranges::any_of(node.inputs,
                               [&](ValueId id) { return id != graph::kNoValue && is_input_[id]; });
  });
}

bool PlacementCost::is_read_outside(ValueId id) const {
  return std::ranges::any_of(readers_[id],
                             [&](uint32_t number) { return group_of_node_[number] != group_; });
}

// Counts the elements of all values that pass between these nodes and the others.
double PlacementCost::crossing_of(std::span<const uint32_t> nodes) {
  ++group_;
  double elements = 0;
  for (const uint32_t number : nodes) {
    group_of_node_[number] = group_;
    for (const ValueId id : graph_.nodes[number].outputs) group_of_value_[id] = group_;
  }
  for (const uint32_t number : nodes) {
    for (const ValueId id : graph_.nodes[number].outputs)
      if (is_read_outside(id)) elements += elements_of(graph_, id);
    for (const ValueId id : graph_.nodes[number].inputs) {
      if (id == graph::kNoValue || graph_.values[id].constant || group_of_value_[id] == group_)
        continue;
      group_of_value_[id] = group_;
      elements += elements_of(graph_, id);
    }
  }
  return elements;
}

bool PlacementCost::is_worth_crossing(std::span<const uint32_t> nodes) {
  if (is_at_the_boundary(nodes)) return true;
  double work = 0;
  for (const uint32_t number : nodes) work += work_of(graph_, graph_.nodes[number]);
  // The NPU takes about half the CPU's time for the work: its elements are half as large, or its
  // layouts suit the kernels better. So running it there saves half of the work.
  return work / 2 > crossing_of(nodes);
}

}  // namespace millrace::lowering
