// The geometry of matrix products: [..., M, K] by [..., K, N], with leading dimensions broadcast.
// Thread-safe.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "fallback/tensor_view.h"

namespace millrace::fallback {

// The dimensions of a product: M rows, depth K, N columns.
struct Product {
  Dims batch;  // batch dimensions of the result
  size_t rows = 1, depth = 1, columns = 1;
};

// Returns the dimensions of the product. kUnsupported: an operand has rank 1 or 0.
// kInvalidArgument: the operands do not match.
Result<Product> product_of(const TensorView& a, const TensorView& b);
Dims result_dims(const Product& product);
// Returns the index of the matrix of an operand that is used for matrix `number` of the result,
// whose batch dimensions are `batch`.
size_t matrix_index(const TensorView& factor, const Dims& batch, size_t number);

}  // namespace millrace::fallback
