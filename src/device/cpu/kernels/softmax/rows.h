// Softmax of rows of any length. The instruction set is chosen when it is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels {

// Applies softmax to `rows` contiguous rows of `length` elements. All results of a row with a NaN,
// with inf or of -inf alone are NaN. `to` may be `from`. Requirement: length >= 1.
void softmax_of_rows(const float* from, float* to, size_t rows, size_t length) noexcept;
// Computes softmax_of_rows() of BF16 elements in FP32.
void softmax_of_rows(const uint16_t* from, uint16_t* to, size_t rows, size_t length) noexcept;

}  // namespace millrace::device::cpu::kernels
