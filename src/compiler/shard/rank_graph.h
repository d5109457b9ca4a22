// Makes the graph of one rank: the parts of the values that a plan divides, and the collectives
// between them. Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/shard/split_plan.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Makes the graph of rank `rank`. Its inputs and outputs are those of the whole graph: every rank
// is given all of the inputs and makes all of the outputs. Weights that are not divided are shared
// with the whole graph. Biases are added once, to the sum over all ranks. Requirements: `plan` is
// plan_split() of `graph` for `ranks` ranks; rank < ranks. kOutOfMemory.
Result<graph::Graph> make_rank_graph(const graph::Graph& graph, const SplitPlan& plan,
                                     uint32_t rank, uint32_t ranks);

}  // namespace millrace::compiler
