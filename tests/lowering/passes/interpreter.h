// Runs a graph by plain loops: what passes must not change.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::lowering {

// The outputs of the graph for inputs that depend on their position and shape only. Conv, pooling
// and batch normalisation are computed here; the rest by evaluate().
Result<std::vector<std::vector<float>>> interpret(const graph::Graph& graph);

// Computes the outputs of a node of `graph`. `values` has an entry for each value of the graph; the
// values that the node reads are constants.
Result<std::vector<graph::Value>> compute_node(const graph::Graph& graph, const graph::Node& node,
                                               const std::vector<graph::Value>& values);

// Returns the elements of a constant as numbers.
std::vector<float> numbers_of(const graph::Value& constant);

}  // namespace millrace::lowering
