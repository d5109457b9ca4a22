// Det: determinants of square matrices, by Gaussian elimination with partial pivoting, in double.
#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Status shape_of_det(Inference& node) {
  const auto dims = node.in(0).dims;
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2])
    return invalid_argument("its input must be square matrices");
  node.set(0, node.in(0).type, Dims(dims.begin(), dims.end() - 2));
  return {};
}

// Eliminates in place, with the largest element of each column as the pivot. Overwrites `matrix`.
double determinant(std::span<double> matrix, size_t size) {
  double result = 1;
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < size; ++row)
      if (std::fabs(matrix[row * size + column]) > std::fabs(matrix[pivot * size + column]))
        pivot = row;
    if (matrix[pivot * size + column] == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(matrix.begin() + static_cast<ptrdiff_t>(pivot * size),
                       matrix.begin() + static_cast<ptrdiff_t>((pivot + 1) * size),
                       matrix.begin() + static_cast<ptrdiff_t>(column * size));
      result = -result;
    }
    result *= matrix[column * size + column];
    for (size_t row = column + 1; row < size; ++row) {
      const double factor = matrix[row * size + column] / matrix[column * size + column];
      for (size_t k = column; k < size; ++k)
        matrix[row * size + k] -= factor * matrix[column * size + k];
    }
  }
  return result;
}

Status det(const Call& call) {
  const auto size = static_cast<size_t>(call.in(0).dims.back());
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      const auto x = call.in(0).as<T>().subspan(i * size * size, size * size);
      std::vector<double> matrix(x.begin(), x.end());
      y[i] = static_cast<T>(determinant(matrix, size));
    }
    return {};
  });
}

}  // namespace

std::span<const OperatorSpec> determinant_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Det", 11, {}, {}, kReals, shape_of_det, det},
  };
  return kOperators;
}

}  // namespace millrace::fallback
