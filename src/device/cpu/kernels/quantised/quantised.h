// Kernels that compute with the integers of quantised values.
//
// Each is a second lowering of an operator of the graph, for the cases in which the integers give
// the numbers that the operator defines, up to one step of the result where the order of roundings
// differs. Where none takes a node, the builder dequantises what the kernels beside this folder
// read, and quantises what they make.
#pragma once

#include "base/status.h"
#include "device/cpu/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::quantised {

// Lowers the node; false, with nothing added, where there is no kernel for it or the processor has
// no exact sums of products of bytes.
Result<bool> lower(Builder& builder, const Node& node);

// One overload per operator, under the same terms.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::quantised
