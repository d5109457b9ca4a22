// Slices are taken before elements are moved, not after it.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// If only Slices along one dimension, or Gathers of one index of it, read the result of a Reshape
// or Transpose, each part is taken from the operand and then moved alone. Queries, keys and values
// that one MatMul makes thus become slices of its result, however that was reshaped before they
// were separated. Requirement: the graph is valid.
void hoist_slices(graph::Graph& graph);

}  // namespace millrace::compiler
