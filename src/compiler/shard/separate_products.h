// One product for several, of which later nodes take their parts, becomes several.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// If a MatMul has constant weights and only slices of its columns are read, before or after its
// elements were moved (hoist_slices.h), each slice becomes a MatMul with those columns, bit for
// bit. Queries, keys and values that were computed at once can then be divided by heads
// (split_plan.h). Requirement: the graph is valid. kOutOfMemory.
Status separate_products(graph::Graph& graph);

}  // namespace millrace::compiler
