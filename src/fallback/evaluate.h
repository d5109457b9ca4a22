// Fallback operators, asked for their outputs' shapes and run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/shape.h"

namespace millrace::fallback {

struct OperatorSpec;

// The types and dimensions of a node's `outputs` outputs. Checks everything about the node that
// does not depend on elements: that there is such an operator, number and presence of operands,
// attributes, types, dimensions within graph::check_shape()'s limits. kUnsupported: no such
// operator, an attribute, type or variant that is not covered, or dimensions that follow from
// elements which are not known, and then the indices of those inputs are added to `asked`, if it is
// not null; kInvalidArgument: the rest.
Result<std::vector<graph::ValueType>> infer_outputs(const graph::Fallback& op,
                                                    std::span<const TensorView> inputs,
                                                    size_t outputs,
                                                    std::vector<size_t>* asked = nullptr);

// Precomputes what run() needs of the attributes, for callers that run a node often; null if the
// operator has nothing to precompute. Requirement: infer_outputs() accepts the node.
Result<std::shared_ptr<const void>> prepare(const graph::Fallback& op);

// Computes the outputs. Requirement: they have the types and dimensions of infer_outputs();
// `prepared` comes from prepare(), or is null. Errors are those of the elements, and kOutOfMemory.
// Thread-safe.
Status run(const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared = nullptr) noexcept;
// This overload serves callers that have looked the operator up: `spec` is the row of op.name.
Status run(const OperatorSpec& spec, const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared) noexcept;

}  // namespace millrace::fallback
