// Evaluation of fallback operators on constants, by the kernels of src/fallback. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/graph.h"
#include "graph/shape.h"

namespace millrace::lowering {

// Returns views of operands for fallback operators. `operands` has null for an absent operand; the
// view of an operand that is no constant has no elements. The views refer to the values, which must
// outlive them.
std::vector<fallback::TensorView> views_of(std::span<const graph::Value* const> operands);

// Returns the outputs as constants without names. Requirements: all operands that are present have
// elements, and `types` is the result of fallback::infer_outputs() for them. Errors are those of
// the kernel, and kOutOfMemory.
Result<std::vector<graph::Value>> evaluate_fallback(const graph::Fallback& op,
                                                    std::span<const fallback::TensorView> operands,
                                                    std::span<const graph::ValueType> types);

}  // namespace millrace::lowering
