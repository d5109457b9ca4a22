// Products of matrices, by plain loops. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "graph/reference/functions.h"

namespace millrace::graph::reference {

// A matrix of elements of T, with the strides between its rows and between its columns, in
// elements.
template <class T>
struct Matrix {
  const T* data = nullptr;
  size_t rows = 1, columns = 1, row_stride = 1, column_stride = 1;

  // A dense matrix in C order of which `data` has `rows` rows, or its transpose.
  static Matrix dense(const T* data, size_t rows, size_t columns, bool transposed = false) {
    if (transposed) return {data, columns, rows, 1, columns};
    return {data, rows, columns, columns, 1};
  }
};

// Calls store(sum) for all elements of the product a b, in C order. Each sum is added up in the
// order of the columns of `a`. Requirement: `a` has as many columns as `b` has rows.
template <class T, class Store>
void multiply(const Matrix<T>& a, const Matrix<T>& b, Store&& store) {
  std::vector<Sum<T>> sums(b.columns);
  for (size_t row = 0; row < a.rows; ++row) {
    const T* const left = a.data + row * a.row_stride;
    std::ranges::fill(sums, Sum<T>{0});
    if (b.column_stride == 1) {  // by rows of `b`, so that the inner loop is vectorised
      for (size_t k = 0; k < a.columns; ++k)
        for (size_t column = 0; column < b.columns; ++column)
          sums[column] = add_product<T>(sums[column], left[k * a.column_stride],
                                        b.data[k * b.row_stride + column]);
    } else {
      for (size_t column = 0; column < b.columns; ++column)
        for (size_t k = 0; k < a.columns; ++k)
          sums[column] = add_product<T>(sums[column], left[k * a.column_stride],
                                        b.data[k * b.row_stride + column * b.column_stride]);
    }
    for (const Sum<T> sum : sums) store(sum);
  }
}

}  // namespace millrace::graph::reference
