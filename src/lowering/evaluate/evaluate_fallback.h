// Evaluation of fallback operators on constants.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/graph.h"
#include "graph/shape.h"

namespace millrace::lowering {

// Operands as fallback operators see them; null where one is absent. Without elements where one is
// no constant. They refer to the values, which must stay where they are.
std::vector<fallback::TensorView> views_of(std::span<const graph::Value* const> operands);

// The outputs as nameless constants. Requirements: all operands have elements, and `types` is what
// fallback::infer_outputs() gives for them. Errors are those of the kernel, and kOutOfMemory.
Result<std::vector<graph::Value>> evaluate_fallback(const graph::Fallback& op,
                                                    std::span<const fallback::TensorView> operands,
                                                    std::span<const graph::ValueType> types);

}  // namespace millrace::lowering
