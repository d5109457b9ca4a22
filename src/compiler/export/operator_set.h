// Determines the operator set that a written model needs.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// The least operator set of the standard's domain, from 13 on (the first whose QuantizeLinear takes
// a scale per channel), that has all operators that the graph is written in. Fallback operators
// have the form of the newest set. kUnsupported: the node of an operator that no set has which
// models may state, or of ai.onnx.ml, whose strings and maps a graph does not keep.
Result<int> operator_set_of(const graph::Graph& graph);

}  // namespace millrace::compiler
