// Products of matrices: [..., M, K] by [..., K, N], leading dimensions broadcast.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "fallback/tensor_view.h"

namespace millrace::fallback {

struct Product {
  Dims batch;  // batch dimensions of the result
  size_t rows = 1, depth = 1, columns = 1;
};

// kUnsupported where a factor is no matrix, kInvalidArgument where they do not fit each other.
Result<Product> product_of(const TensorView& a, const TensorView& b);
Dims result_dims(const Product& product);
// The matrix of a factor that belongs to a batch index of the result, by number.
size_t matrix_index(const TensorView& factor, const Dims& batch, size_t number);

}  // namespace millrace::fallback
