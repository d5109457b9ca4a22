// The product of one row with a matrix of weights, as fast as the weights can be read. The
// instruction set is chosen when it is called.
//
// The weights are those of oneDNN's inner products: panels of 64 columns, one after the other. A
// panel has the weights of its columns for the first element of the row, then those for the second,
// and so on; in BF16 those for each two elements of the row, alternating.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels {

inline constexpr size_t kPanelColumns = 64;

// Number is float, or uint16_t for BF16.
template <class Number>
struct RowProduct {
  const float* row;       // of `depth` elements; in BF16 rounded up to an even number by a 0
  const Number* weights;  // of [panels, panel_size]; columns beside the matrix are 0
  size_t depth, columns;
  size_t panel_size;  // elements
  const float* bias;  // of the columns; null if there is none
};

constexpr size_t panels_of(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

// Computes the columns of some panels of the result, in FP32. The result has a type of its own.
void multiply_row(const RowProduct<float>& product, size_t first, size_t count, float* to) noexcept;
void multiply_row(const RowProduct<uint16_t>& product, size_t first, size_t count,
                  float* to) noexcept;
void multiply_row(const RowProduct<uint16_t>& product, size_t first, size_t count,
                  uint16_t* to) noexcept;

// Writes a row of BF16 elements as multiply_row() reads it.
void widen_row(const uint16_t* from, size_t depth, float* to) noexcept;

}  // namespace millrace::device::cpu::kernels
