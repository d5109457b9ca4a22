// Pooling steps, for the operators that are pooling under another name too.
#pragma once

#include "device/cpu/builder.h"
#include "device/cpu/kernels/kernels.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// One entry per spatial dimension; `dilations` as oneDNN counts them, 0 for none.
struct Window {
  dnnl::algorithm algorithm;
  Dims kernel, strides, dilations, pads_begin, pads_end;
};

// Pools x; `dims` are those of the result, which is the caller's to give to a value.
Result<Operand> add_pooling(Builder& builder, const Window& window, graph::ValueId x,
                            const Dims& dims);

// Adds the whole operator over plain memory, by a loop of our own: any type the operator takes, and
// any window.
Status add_plain_pooling(Builder& builder, const Node& node, const graph::Pool& op);

// Over all spatial dimensions, which become 1.
Result<Operand> add_global_pooling(Builder& builder, graph::PoolKind kind, graph::ValueId x);

}  // namespace millrace::device::cpu::kernels
