// Steps of Binary, for operators that end in one.
#pragma once

#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// Adds the step to = a op b. All are plain, and `a` and `b` broadcast to `dims` as in numpy.
Status add_plain_binary(Builder& builder, graph::BinaryKind kind, const Operand& a,
                        const Dims& a_dims, const Operand& b, const Dims& b_dims, const Operand& to,
                        const Dims& dims);

// Returns `dims` with leading ones, up to `rank`.
Dims with_rank(const Dims& dims, size_t rank);

}  // namespace millrace::device::cpu::kernels
