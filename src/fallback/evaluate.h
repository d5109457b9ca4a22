// The entry points of fallback operators: shape inference and execution. All functions are
// thread-safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/shape.h"

namespace millrace::fallback {

struct OperatorSpec;

// Returns the types and dimensions of the `outputs` outputs of a node. Checks everything that does
// not depend on elements: whether the operator exists, the number and presence of operands,
// attributes, types, and dimensions within the limits of graph::check_shape().
//
// kUnsupported: an unknown operator; an attribute, type or variant that is not supported; or
// dimensions that depend on elements which are not known. In the last case the indices of the
// inputs with these elements are added to `asked` if it is not null. kInvalidArgument: all other
// failures.
Result<std::vector<graph::ValueType>> infer_outputs(const graph::Fallback& op,
                                                    std::span<const TensorView> inputs,
                                                    size_t outputs,
                                                    std::vector<size_t>* asked = nullptr);

// Precomputes data that run() needs from the attributes, for callers that run a node often; null if
// the operator has nothing to precompute. Requirement: infer_outputs() accepts the node.
Result<std::shared_ptr<const void>> prepare(const graph::Fallback& op);

// Computes the outputs. Requirements: they have the types and dimensions of infer_outputs(), and
// `prepared` comes from prepare() or is null. Errors: invalid elements, such as indices out of
// range, and kOutOfMemory.
Status run(const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared = nullptr) noexcept;
// For callers that have looked up the operator: `spec` is the row of op.name.
Status run(const OperatorSpec& spec, const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared) noexcept;

}  // namespace millrace::fallback
