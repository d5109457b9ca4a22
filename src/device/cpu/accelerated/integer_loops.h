// Vector loops around products of integers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::accelerated {

// Sums of products, in rows of `columns` that are `stride` apart, and what they lack. All sums wrap
// around.
struct IntegerRows {
  const int32_t* sums = nullptr;
  size_t rows = 0, columns = 0, stride = 0;
  const int32_t* offsets = nullptr;  // added to the columns
  // Per column, or null: how often the number behind the columns of a row is subtracted.
  const int32_t* totals_taken = nullptr;
};

// to[row, column] = float(whole sum) * scales[column] + biases[column], rounded three times, as
// operators one after the other round. `to` may be `sums` where the stride is the number of
// columns.
void scale_rows(const IntegerRows& rows, const float* scales, const float* biases,
                float* to) noexcept;

// to[column, row] = whole sum.
void transpose_rows(const IntegerRows& rows, int32_t* to) noexcept;
// to[row, column] = whole sum.
void complete_rows(const IntegerRows& rows, int32_t* to) noexcept;

}  // namespace millrace::device::cpu::accelerated
