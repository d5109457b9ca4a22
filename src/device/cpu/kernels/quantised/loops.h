// Loops over bytes and numbers in the first cache that the compiler does not vectorise well. The
// instruction set is chosen when a loop is called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/operators.h"

namespace millrace::device::cpu::kernels::quantised {

// sums[c] = the sum over r of the bytes x[r * columns + c], which are INT8 or UINT8. Requirement:
// it is less than 2^31.
void sum_columns(const std::byte* x, size_t rows, size_t columns, bool is_signed,
                 int32_t* sums) noexcept;

// Whether combine() knows the function.
bool can_combine(graph::BinaryKind kind) noexcept;
// a[i] = a[i] op b[i]
void combine(graph::BinaryKind kind, float* a, const float* b, size_t count) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised
