// Slices are taken before elements are moved, not after it.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Where all that reads the result of a Reshape or Transpose are parts of one of its dimensions,
// Slices or Gathers of one index, each part is taken of the operand, and then moved alone. So
// queries, keys and values that one product makes are slices of that product, however it was
// reshaped before they were told apart. Requirement: the graph is valid.
void hoist_slices(graph::Graph& graph);

}  // namespace millrace::compiler
