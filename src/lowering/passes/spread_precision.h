// Extends FP32 to nodes beside those that compute in it, in a program of a lower precision.
#pragma once

#include "graph/graph.h"

namespace millrace::lowering {

// Marks with FP32 the nodes that only move numbers to or from nodes of FP32, also through each
// other: a move in a lower precision would round the numbers.
void spread_full_precision(graph::Graph& graph);

}  // namespace millrace::lowering
