// What it costs to run a few nodes on another kind of partition than those around them.
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace millrace::lowering {

// Whether these nodes, by number, do enough work on the NPU to make up for bringing their operands
// over from a CPU partition and their results back. Nodes that read an input of the graph or make
// one of its outputs always are: on the CPU that tensor would have no HW view.
bool is_worth_crossing(const graph::Graph& graph, std::span<const uint32_t> nodes);

}  // namespace millrace::lowering
