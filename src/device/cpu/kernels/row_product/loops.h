// The product of one row with a matrix of weights, as fast as the weights can be read. The
// instruction set is chosen when it is called.
//
// The weights are those of oneDNN's inner products: panels of 64 columns, one after the other. A
// panel has the weights of its columns for the first element of the row, then those for the second,
// and so on.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::kernels {

inline constexpr size_t kPanelColumns = 64;

struct RowProduct {
  const float* row;      // of `depth` elements
  const float* weights;  // of [panels, panel_size]; columns beside the matrix are 0
  size_t depth, columns;
  size_t panel_size;  // elements
  const float* bias;  // of the columns; null if there is none
};

constexpr size_t panels_of(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

// Computes the columns of some panels of the result.
void multiply_row(const RowProduct& product, size_t first, size_t count, float* to) noexcept;

}  // namespace millrace::device::cpu::kernels
