// Pooling steps, also for operators that are pooling under another name. oneDNN computes averages
// if it can; its maximum ignores NaNs, so there are loops for maxima.
#pragma once

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// Pools x in C order, by the device's own loop, for any type that the operator takes and any
// window. `dims` are the dimensions of the result, which the caller assigns to a value.
Result<Operand> add_plain_pooling(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                  const Dims& dims);

// Pools over all spatial dimensions, which become 1.
Result<Operand> add_global_pooling(Builder& builder, graph::PoolKind kind, graph::ValueId x);

}  // namespace millrace::device::cpu::kernels
