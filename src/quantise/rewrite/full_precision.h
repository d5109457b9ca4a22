// Marks the nodes of a graph that compute in FP32 in a program of a lower precision.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace millrace::quantise {

// The graph in which these nodes, by index, are of FP32, and so is what only moves numbers to or
// from them, since a move in a lower precision would round the numbers.
graph::Graph with_full_precision(graph::Graph graph, const std::vector<bool>& nodes);

}  // namespace millrace::quantise
