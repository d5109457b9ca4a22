// The largest elements under windows (loops.h) as steps of a program.
#pragma once

#include <optional>

#include "base/status.h"
#include "device/cpu/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels::max_pooling {

// Adds the pooling of x, whose result has the dimensions `dims` and is the caller's to give to a
// value; nothing where x has too few channels for these loops, or a window is in the padding alone.
Result<std::optional<Operand>> add(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                   const Dims& dims);

}  // namespace millrace::device::cpu::kernels::max_pooling
