// Maximum pooling (loops.h) as a step of a program.
#pragma once

#include <optional>

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels::max_pooling {

// Adds the pooling of x. The result has the dimensions `dims`; the caller assigns it to a value.
// Returns nothing if x has too few channels for these loops, or a window has padding only.
Result<std::optional<Operand>> add(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                   const Dims& dims);

}  // namespace millrace::device::cpu::kernels::max_pooling
