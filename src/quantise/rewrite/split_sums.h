// Sums that a Conv computes with its residual operand, apart from it: other runtimes have kernels
// on integers for a convolution and for a sum, each between quantised values, and none for both.
#pragma once

#include "graph/graph.h"

namespace millrace::quantise {

// The graph, in which an Add follows each Conv that had a residual operand, and its activation
// follows that. Convs whose activation has slopes per channel stay as they are.
graph::Graph split_sums(const graph::Graph& graph);

}  // namespace millrace::quantise
