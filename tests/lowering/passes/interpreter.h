// Runs a graph by plain loops: what passes must not change.
#pragma once

#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::lowering {

// The outputs of the graph for inputs that depend on their position and shape only. Conv, pooling
// and batch normalisation are computed here; the rest by evaluate().
Result<std::vector<std::vector<float>>> interpret(const graph::Graph& graph);

}  // namespace millrace::lowering
