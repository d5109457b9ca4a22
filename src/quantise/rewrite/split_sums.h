// Splits residual sums from the convolutions that they are fused into, for models that other
// runtimes read: these have integer kernels for a Conv and for an Add between quantised values, but
// none for both together. Thread-safe.
#pragma once

#include "graph/graph.h"

namespace millrace::quantise {

// Returns the graph in which each Conv with a residual operand is followed by an Add, and that by
// the Conv's activation, if it has one. A Conv with slopes per channel stays as it is.
graph::Graph split_sums(const graph::Graph& graph);

}  // namespace millrace::quantise
