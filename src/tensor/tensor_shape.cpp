#include "tensor/tensor_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

namespace millrace::tensor {
namespace {

std::span<const uint32_t> dimensions_of(const TensorShape& shape) noexcept {
  return std::span(shape.dims).first(std::min<size_t>(shape.rank, TensorShape::kMaxRank));
}

std::string describe(std::span<const uint32_t> dimensions) {
  std::string text = "[";
  for (const uint32_t dim : dimensions) {
    if (text.size() > 1) text += ',';
    text += dim == kOpenDimension ? "?" : fmt::to_string(dim);
  }
  return text + "]";
}

}  // namespace

size_t elements_of(const TensorShape& shape) noexcept {
  size_t product = 1;
  bool empty = false, overflow = false;
  for (const uint32_t dim : dimensions_of(shape)) {
    empty = empty || dim == 0;
    overflow = __builtin_mul_overflow(product, size_t{dim}, &product) || overflow;
  }
  if (empty) return 0;
  return overflow ? std::numeric_limits<size_t>::max() : product;
}

size_t bytes_of(const TensorShape& shape, DataType type) noexcept {
  size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(elements_of(shape), size_of(type), &bytes);
  return overflow ? std::numeric_limits<size_t>::max() : bytes;
}

bool is_complete(const TensorShape& shape) noexcept {
  return shape.rank <= TensorShape::kMaxRank &&
         std::ranges::count(dimensions_of(shape), kOpenDimension) == 0;
}

bool fits(const TensorShape& shape, const std::vector<uint32_t>& described) noexcept {
  const auto same = [](uint32_t dim, uint32_t wanted) {
    return wanted == kOpenDimension || dim == wanted;
  };
  return is_complete(shape) && std::ranges::equal(dimensions_of(shape), described, same);
}

TensorShape shape_of(const std::vector<uint32_t>& dimensions) noexcept {
  TensorShape shape{.rank = static_cast<uint32_t>(dimensions.size())};
  std::ranges::copy(dimensions, shape.dims.begin());
  return shape;
}

std::string to_string(const std::vector<uint32_t>& dimensions) {
  return describe(dimensions);
}

std::string to_string(const TensorShape& shape) {
  return describe(dimensions_of(shape));
}

}  // namespace millrace::tensor
