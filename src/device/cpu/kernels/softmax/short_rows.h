// Softmax of many rows of a few elements each, as detectors have them for every anchor. oneDNN
// computes one row at a time, which leaves most of a vector empty. Here a vector has one element of
// several rows. The instruction set is chosen when it is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels {

inline constexpr size_t kLongestShortRow = 16;

// Applies softmax to `rows` contiguous rows of `length` elements. `to` may be `from`. Requirement:
// 1 <= length <= kLongestShortRow.
void softmax_of_short_rows(const float* from, float* to, size_t rows, size_t length) noexcept;
// The same for BF16 elements, computed in FP32.
void softmax_of_short_rows(const uint16_t* from, uint16_t* to, size_t rows, size_t length) noexcept;

}  // namespace millrace::device::cpu::kernels
