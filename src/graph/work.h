// How much an operator computes.
#pragma once

#include "graph/graph.h"

namespace millrace::graph {

// Multiplications per element of the node's result, of the operators in which they count (Conv,
// MatMul, attention, recurrent networks); 0 for the others.
double multiplications_per_element(const Graph& graph, const Node& node);

}  // namespace millrace::graph
