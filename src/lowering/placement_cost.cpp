#include "lowering/placement_cost.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace millrace::lowering {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// The unit of cost is an element that is read and written once.
double elements_of(const Graph& graph, ValueId id) {
  return static_cast<double>(graph.values[id].elements());
}

// Multiplications per element of the result, of the operators in which they count.
double depth_of(const Graph& graph, const Node& node) {
  if (std::holds_alternative<graph::Conv>(node.op)) {
    const ValueId weights = node.inputs[1];
    return elements_of(graph, weights) / static_cast<double>(graph.values[weights].shape[0]);
  }
  if (const auto* product = std::get_if<graph::MatMul>(&node.op)) {
    const graph::Dims& a = graph.values[node.inputs[0]].shape;
    return static_cast<double>(product->transpose_a && a.size() > 1 ? a[a.size() - 2] : a.back());
  }
  return 0;
}

double work_of(const Graph& graph, const Node& node) {
  // A vector unit makes about so many multiplications in the time in which an element is moved.
  constexpr double kMultiplicationsPerMove = 16;
  double elements = 0;
  for (const ValueId id : node.outputs) elements += elements_of(graph, id);
  return elements * (1 + depth_of(graph, node) / kMultiplicationsPerMove);
}

// The nodes seen from the rest of the graph.
struct Island {
  std::vector<bool> nodes, made, read;  // by node; by value

  Island(const Graph& graph, std::span<const uint32_t> numbers)
      : nodes(graph.nodes.size()), made(graph.values.size()), read(graph.values.size()) {
    for (const uint32_t number : numbers) {
      nodes[number] = true;
      for (const ValueId id : graph.nodes[number].outputs) made[id] = true;
      mark_operands(graph, graph.nodes[number], read);
    }
  }

  static void mark_operands(const Graph& graph, const Node& node, std::vector<bool>& values) {
    for (const ValueId id : node.inputs)
      if (id != graph::kNoValue && !graph.values[id].constant) values[id] = true;
  }
};

bool is_at_the_boundary(const Graph& graph, const Island& island) {
  const auto in = [](const std::vector<bool>& values) {
    return [&values](ValueId id) { return values[id]; };
  };
  return std::ranges::any_of(graph.inputs, in(island.read)) ||
         std::ranges::any_of(graph.outputs, in(island.made));
}

// The elements of the values that the nodes share with the others.
double crossing_of(const Graph& graph, const Island& island) {
  std::vector<bool> read_outside(graph.values.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (!island.nodes[i]) Island::mark_operands(graph, graph.nodes[i], read_outside);
  double elements = 0;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const bool crosses = island.made[id] ? read_outside[id] : island.read[id];
    if (crosses) elements += elements_of(graph, id);
  }
  return elements;
}

}  // namespace

bool is_worth_crossing(const Graph& graph, std::span<const uint32_t> nodes) {
  const Island island(graph, nodes);
  if (is_at_the_boundary(graph, island)) return true;
  double work = 0;
  for (const uint32_t number : nodes) work += work_of(graph, graph.nodes[number]);
  // The NPU takes half the time for it: its elements are half as large, or its layouts fit better.
  return work / 2 > crossing_of(graph, island);
}

}  // namespace millrace::lowering
