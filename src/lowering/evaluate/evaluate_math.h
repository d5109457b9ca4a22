// Arithmetic on constants: the part of evaluate() that depends on element types. Requirements: the
// operator's shape function accepts the operands, and `output` has the type and shape that it
// gives, with at least one element. Thread-safe.
#pragma once

#include <span>

#include "base/status.h"
#include "graph/graph.h"
#include "lowering/evaluate/constant_data.h"

namespace millrace::lowering {

Status evaluate_unary(const graph::Unary& op, const graph::Value& input,
                      const MutableConstant& output);
Status evaluate_binary(const graph::Binary& op, const graph::Value& a, const graph::Value& b,
                       const MutableConstant& output);
Status evaluate_reduce(const graph::Reduce& op, const graph::Value& input,
                       const MutableConstant& output);
Status evaluate_matmul(const graph::MatMul& op, std::span<const graph::Value* const> inputs,
                       const MutableConstant& output);
Status evaluate_cast(const graph::Value& input, const MutableConstant& output);

}  // namespace millrace::lowering
