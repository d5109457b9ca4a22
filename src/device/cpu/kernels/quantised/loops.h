// Vector loops over bytes and floating point elements that the compiler does not vectorise well.
// The instruction set is chosen when a loop is called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/operators.h"

namespace millrace::device::cpu::kernels::quantised {

// Adds to sums[c] the sum over r of the bytes x[r * stride + c], which are INT8 or UINT8.
// Requirement: no sum goes beyond 32 bits.
void add_rows(const std::byte* x, size_t rows, size_t stride, size_t columns, bool is_signed,
              int32_t* sums) noexcept;

// Computes a[i] = a[i] op b[i].
void combine(graph::BinaryKind kind, float* a, const float* b, size_t count) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised
