// Kernels that compute with the integers of quantised values.
//
// Each is a second lowering of an operator of the graph, for the cases in which integers give the
// results that the operator defines, up to one unit if the order of roundings differs. If none
// takes a node, the floating point kernels do, and the builder dequantises their operands and
// quantises their results.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels::quantised {

// Lowers the node. Returns false, with nothing added, if there is no kernel for it or the processor
// does not add up products of bytes exactly.
Result<bool> lower(Builder& builder, const Node& node);

// One overload per operator, with the same contract.
Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Pool& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::GlobalPool& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::MatMul& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Unary& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Binary& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Softmax& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Reduce& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Concat& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Reshape& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Transpose& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Slice& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Gather& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Pad& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Expand& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Resize& op);
Result<bool> lower(Builder& builder, const Node& node, const graph::Requantise& op);

}  // namespace millrace::device::cpu::kernels::quantised
