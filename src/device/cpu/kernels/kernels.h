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

// A Fallback is lowered by the folder `accelerated`.
#define MILLRACE_X(Op) Status lower(Builder& builder, const Node& node, const graph::Op& op);
MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X

}  // namespace millrace::device::cpu::kernels
