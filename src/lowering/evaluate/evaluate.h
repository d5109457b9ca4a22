// Evaluation of graph operators on constant data, on the host: for constant folding, at import and
// as a pass. Exact for integers; float32 arithmetic for the rest, with sums in double.
#pragma once

#include <span>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::lowering {

// The output of `op` as a nameless value with a constant, which is not quantised. `inputs` has one
// entry per operand, null where it is absent; all others must be constants. kUnsupported where this
// evaluator does not offer the operator or the element type, or where the work is too large to do
// at compile time (the node then stays in the graph); kInvalidArgument where the operands do not
// fit the operator; kOutOfMemory.
Result<graph::Value> evaluate(const graph::Operator& op,
                              std::span<const graph::Value* const> inputs);

}  // namespace millrace::lowering
