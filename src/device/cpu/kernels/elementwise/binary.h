// Binary steps, for operators that end in one.
#pragma once

#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// `a` op `b`, giving `to`, in plain forms of `dims`, to which both broadcast as in numpy.
Status add_plain_binary(Builder& builder, graph::BinaryKind kind, const Operand& a,
                        const Dims& a_dims, const Operand& b, const Dims& b_dims, const Operand& to,
                        const Dims& dims);

// `dims` with ones in front, up to `rank`.
Dims with_rank(const Dims& dims, size_t rank);

}  // namespace millrace::device::cpu::kernels
