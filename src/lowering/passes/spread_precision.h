// Extends FP32 from nodes that compute in it to the data movement around them, in a program of a
// lower precision.
#pragma once

#include "graph/graph.h"

namespace millrace::lowering {

// Marks with FP32 all nodes that only move elements to or from FP32 nodes, directly or through
// other such nodes: moving them in a lower precision would round them.
void spread_full_precision(graph::Graph& graph);

}  // namespace millrace::lowering
