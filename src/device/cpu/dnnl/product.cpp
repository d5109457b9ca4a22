// The operation of a matrix product in one of the forms that oneDNN 3.x computes correctly
// (defects.h): one matrix times one matrix, or a batch of matrices at equal distances. With 2.6 it
// is unchanged.
#include "device/cpu/dnnl/product.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/defects.h"

namespace millrace::device::cpu {
namespace {

// Matrices at equal distances in memory. All distances are in elements.
struct Matrices {
  int64_t count = 1, distance = 0;
  int64_t rows, columns, row_stride, column_stride;
};

// Returns nothing if the distances are not equal.
std::optional<Matrices> matrices_of(const Desc& desc) {
  const auto strides = strides_of(desc);
  if (!strides) return std::nullopt;
  const Dims dims = desc.dims();
  const size_t row = dims.size() - 2, column = dims.size() - 1;
  Matrices result{.rows = dims[row],
                  .columns = dims[column],
                  .row_stride = (*strides)[row],
                  .column_stride = (*strides)[column]};
  for (size_t i = row; i-- > 0;) {
    if (dims[i] == 1) continue;
    if (result.count == 1)
      result.distance = (*strides)[i];
    else if ((*strides)[i] != result.count * result.distance)
      return std::nullopt;
    result.count *= dims[i];
  }
  return result;
}

// Returns the rows of all matrices as those of one, if they are at equal distances.
std::optional<Matrices> as_one(Matrices matrices) {
  if (matrices.rows == 1)
    matrices.row_stride = matrices.distance;
  else if (matrices.distance != matrices.rows * matrices.row_stride)
    return std::nullopt;
  matrices.rows *= matrices.count;
  matrices.count = 1;
  return matrices;
}

Desc matrix(const Matrices& matrices, ElementType type) {
  return {{matrices.rows, matrices.columns}, type, {matrices.row_stride, matrices.column_stride}};
}

Desc batch(const Matrices& matrices, ElementType type) {
  const int64_t distance = matrices.count > 1 ? matrices.distance
                                              : std::max(matrices.rows * matrices.row_stride,
                                                         matrices.columns * matrices.column_stride);
  return {{matrices.count, matrices.rows, matrices.columns},
          type,
          {distance, matrices.row_stride, matrices.column_stride}};
}

// Returns a plain descriptor, or one with the last two dimensions swapped, if the factor has that
// layout.
std::optional<Desc> plain_factor(const Desc& factor) {
  const Dims dims = factor.dims();
  std::vector<uint32_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  const Desc plain = ordered_desc(dims, factor.data_type(), order);
  if (have_same_strides(factor, plain)) return plain;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Desc swapped = ordered_desc(dims, factor.data_type(), order);
  if (have_same_strides(factor, swapped)) return swapped;
  return std::nullopt;
}

// Returns the operation if some leading dimensions of a factor are broadcast and others are not.
std::optional<ProductOperation> broadcast_in_part(const ProductOperation& operation) {
  const auto a = plain_factor(operation.a), b = plain_factor(operation.b);
  if (!a || !b) return std::nullopt;
  return ProductOperation{*a, *b, operation.bias, operation.y};
}

}  // namespace

std::optional<ProductOperation> in_this_version(const ProductOperation& operation) {
  if (kProductsTakeEveryLayout) return operation;
  auto a = matrices_of(operation.a), y = matrices_of(operation.y);
  const auto b = matrices_of(operation.b);
  if (!a || !b || !y) return std::nullopt;
  const auto is_whole = [&](int64_t count) { return count == 1 || count == y->count; };
  if (!is_whole(a->count) || !is_whole(b->count)) return broadcast_in_part(operation);
  if (b->count == 1 && a->count > 1) {
    const auto one_a = as_one(*a), one_y = as_one(*y);
    if (one_a && one_y) {
      a = one_a;
      y = one_y;
    }
  }
  const auto rows_lie_apart = [](const Matrices& factor) {
    return factor.rows == 1 && factor.columns > 1 && factor.column_stride != 1;
  };
  if (rows_lie_apart(*a)) return std::nullopt;
  const auto form = y->count == 1 ? matrix : batch;
  ProductOperation told{form(*a, operation.a.data_type()),
                        form(*b, operation.b.data_type()),
                        {},
                        form(*y, operation.y.data_type())};
  if (!operation.bias.is_zero()) {
    Dims dims(y->count == 1 ? 2 : 3, 1);
    dims.back() = y->columns;
    told.bias = plain_desc(dims, operation.bias.data_type());
  }
  return told;
}

dnnl::matmul::primitive_desc find_product(const dnnl::engine& engine,
                                          const dnnl::primitive_attr& attributes,
                                          const ProductOperation& operation) {
  const auto told = in_this_version(operation);
  if (!told) return {};
  return find_primitive<dnnl::matmul>(engine, attributes, told->a, told->b, told->bias, told->y);
}

}  // namespace millrace::device::cpu
