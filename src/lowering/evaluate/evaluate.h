// Evaluation of graph operators on constant data: for constant folding, in the lowering and as a
// pass. Integers are computed exactly (modulo their width), floating-point elements in their own
// type, and sums of reductions and products in double. Thread-safe.
#pragma once

#include <span>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::lowering {

// Returns the output of `op` as a constant without a name and without quantisation. `inputs` has
// one entry per operand, null if it is absent; all others must be constants. kUnsupported if this
// evaluator does not offer the operator or the element type, or if a matrix product is too large to
// compute ahead of time (the node then stays in the graph); kInvalidArgument if the operands do not
// fit the operator; kOutOfMemory.
Result<graph::Value> evaluate(const graph::Operator& op,
                              std::span<const graph::Value* const> inputs);

}  // namespace millrace::lowering
