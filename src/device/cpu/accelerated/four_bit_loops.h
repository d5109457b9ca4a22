// Products of a few rows with a matrix of weights of 4 bits, which stay packed in memory: they are
// dequantised in registers, so that a product of one row takes little longer than reading them. The
// instruction set is chosen when a loop is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::accelerated {

// The columns of the matrix lie one after the other, each in whole blocks of `block` consecutive
// weights, two to a byte, the first in the lower bits. A weight is (q - zero point) * scale.
// Requirement: `block` is a power of two, and at least kLeastFourBitBlock.
struct FourBitMatrix {
  const uint8_t* weights;
  const float* scales;  // [columns, blocks of a column], and kFourBitPadding further elements
  const float* zeros;   // likewise; null if all zero points are 8
  size_t depth, block;

  constexpr size_t blocks() const { return (depth + block - 1) / block; }
};

inline constexpr size_t kLeastFourBitBlock = 16;
// The number of finite elements that follow scales and zero points, which the loops may read.
inline constexpr size_t kFourBitPadding = 16;

// The number of elements of a row as arrange_row() makes it.
constexpr size_t arranged_size(const FourBitMatrix& matrix) {
  constexpr size_t kMultiple = 128;
  return (matrix.blocks() * matrix.block + kMultiple - 1) / kMultiple * kMultiple;
}

// Arranges a row of `matrix.depth` elements as multiply() reads it.
void arrange_row(const FourBitMatrix& matrix, const float* from, float* to) noexcept;

// Some columns of a product: to[row * all + i], for i from `first` to first + count - 1.
struct FourBitResult {
  float* to;
  size_t all, first, count;
};

// Multiplies arranged rows by columns of the matrix.
void multiply(const FourBitMatrix& matrix, const float* rows, size_t row_count,
              const FourBitResult& result) noexcept;

}  // namespace millrace::device::cpu::accelerated
