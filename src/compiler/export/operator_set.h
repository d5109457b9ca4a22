// Determines the operator set (opset) that an exported model needs. Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Returns the lowest opset of the standard's domain that has all operators of the graph in the form
// in which they are written, and at least 13, the first whose QuantizeLinear has a scale per
// channel. Fallback operators have the form of the newest opset. kUnsupported: an operator that no
// opset up to lowering::kMaxOpset has, one of types that a graph lacks, or one of ai.onnx.ml, whose
// strings and maps a graph does not keep; the message names the node.
Result<int> operator_set_of(const graph::Graph& graph);

}  // namespace millrace::compiler
