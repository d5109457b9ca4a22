#include "fallback/matrix_product.h"

#include "graph/shape.h"

namespace millrace::fallback {

Result<Product> product_of(const TensorView& a, const TensorView& b) {
  if (a.rank() < 2 || b.rank() < 2) return unsupported("operands must have rank 2 or more");
  const int64_t depth = a.dims.back();
  if (b.dims[b.rank() - 2] != depth)
    return invalid_argument("the inner dimensions of the operands differ");
  const auto lead = [](const TensorView& x) { return Dims(x.dims.begin(), x.dims.end() - 2); };
  Product product;
  MILLRACE_ASSIGN_OR_RETURN(product.batch, graph::broadcast(lead(a), lead(b)));
  product.rows = static_cast<size_t>(a.dims[a.rank() - 2]);
  product.depth = static_cast<size_t>(depth);
  product.columns = static_cast<size_t>(b.dims.back());
  return product;
}

Dims result_dims(const Product& product) {
  Dims dims = product.batch;
  dims.push_back(static_cast<int64_t>(product.rows));
  dims.push_back(static_cast<int64_t>(product.columns));
  return dims;
}

size_t matrix_index(const TensorView& factor, const Dims& batch, size_t number) {
  size_t index = 0, stride = 1;
  for (size_t back = 0; back < batch.size(); ++back) {
    const auto size = static_cast<size_t>(batch[batch.size() - 1 - back]);
    const size_t at = number % size;
    number /= size;
    if (back + 2 >= factor.rank()) continue;
    const auto own = static_cast<size_t>(factor.dims[factor.rank() - 3 - back]);
    if (own != 1) index += at * stride;
    stride *= own;
  }
  return index;
}

}  // namespace millrace::fallback
