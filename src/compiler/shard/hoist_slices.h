// Moves slices before movements of elements. A step of sharding (separate_products.h).
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// If the result of a Reshape or Transpose is only read by Slices along one dimension, or by Gathers
// of one index, each part is taken from the operand and then moved alone. So queries, keys and
// values that one MatMul makes become slices of its result, however it was reshaped before they
// were separated. Requirement: the graph is valid.
void hoist_slices(graph::Graph& graph);

}  // namespace millrace::compiler
