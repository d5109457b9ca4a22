// The lowering of each operator of the graph to steps: one overload per operator, one file per
// family.
//
// All of them may throw oneDNN's exceptions (see guarded()) and return kUnsupported, with the
// reason, for shapes that oneDNN refuses. Requirement: capabilities().check() accepts the
// node. That table says which element types each kernel takes; kernels do not check types.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

using graph::Node;

constexpr size_t from_dim(int64_t dim) {
  return static_cast<size_t>(dim);
}

Status lower(Builder& builder, const Node& node, const graph::Conv& op);
Status lower(Builder& builder, const Node& node, const graph::Pool& op);
Status lower(Builder& builder, const Node& node, const graph::GlobalPool& op);
Status lower(Builder& builder, const Node& node, const graph::MatMul& op);
Status lower(Builder& builder, const Node& node, const graph::Unary& op);
Status lower(Builder& builder, const Node& node, const graph::Binary& op);
Status lower(Builder& builder, const Node& node, const graph::BatchNormalization& op);
Status lower(Builder& builder, const Node& node, const graph::Softmax& op);
Status lower(Builder& builder, const Node& node, const graph::Concat& op);
Status lower(Builder& builder, const Node& node, const graph::Reshape& op);
Status lower(Builder& builder, const Node& node, const graph::Transpose& op);
Status lower(Builder& builder, const Node& node, const graph::Slice& op);
Status lower(Builder& builder, const Node& node, const graph::Gather& op);
Status lower(Builder& builder, const Node& node, const graph::Pad& op);
Status lower(Builder& builder, const Node& node, const graph::Resize& op);
Status lower(Builder& builder, const Node& node, const graph::Reduce& op);
Status lower(Builder& builder, const Node& node, const graph::Cast& op);
Status lower(Builder& builder, const Node& node, const graph::Expand& op);
Status lower(Builder& builder, const Node& node, const graph::Requantise& op);

}  // namespace millrace::device::cpu::kernels
