// Arithmetic on constants: the part of evaluate() that depends on element types. Shapes have been
// checked by the operator's shape function, and `output` has the type and shape it said.
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

// The function on one number, a float or a double.
template <class T>
T apply(const graph::Activation& function, T x) noexcept;
// The same for devices: libraries export no templates.
double result_of(const graph::Activation& function, double x) noexcept;

}  // namespace millrace::lowering
