// One product for several, of which later nodes take their parts, becomes several.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Where a product has constant weights and all that reads it are slices of its columns, before or
// after its elements were moved (hoist_slices.h), each slice becomes the product with those
// columns, to the bit. Queries, keys and values that were computed at once can then be divided by
// heads (split_plan.h). Requirement: the graph is valid. kOutOfMemory.
Status separate_products(graph::Graph& graph);

}  // namespace millrace::compiler
