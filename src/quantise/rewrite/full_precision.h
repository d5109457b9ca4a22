// Marks nodes of a graph to compute in FP32 in a program of a lower precision. Thread-safe.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace millrace::quantise {

// Returns the graph with the nodes for which `nodes`, by index, is true marked as FP32. Nodes that
// only move elements to or from them are marked, too: in a lower precision they would round them.
graph::Graph with_full_precision(graph::Graph graph, const std::vector<bool>& nodes);

}  // namespace millrace::quantise
