// Pooling steps, for the operators that are pooling under another name too. Means are those of
// oneDNN where it has them; its largest elements leave NaNs out, so there are loops for these.
#pragma once

#include "device/cpu/builder.h"
#include "device/cpu/kernels/kernels.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// Pools x over plain memory, by a loop of our own: any type the operator takes, and any window.
// `dims` are those of the result, which is the caller's to give to a value.
Result<Operand> add_plain_pooling(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                  const Dims& dims);

// Over all spatial dimensions, which become 1.
Result<Operand> add_global_pooling(Builder& builder, graph::PoolKind kind, graph::ValueId x);

}  // namespace millrace::device::cpu::kernels
