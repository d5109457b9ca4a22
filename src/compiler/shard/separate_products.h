// Separates a fused product, such as a QKV projection, into several products. A step of sharding.
// Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// If a MatMul has constant weights and only slices of its columns are read, directly or after a
// movement of its elements (hoist_slices.h), each slice becomes a MatMul with those columns. The
// results have the same bits. Queries, keys and values that were computed at once can then be
// divided by heads (split_plan.h). Requirement: the graph is valid. kOutOfMemory.
Status separate_products(graph::Graph& graph);

}  // namespace millrace::compiler
