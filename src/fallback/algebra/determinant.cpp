// Det, and Inverse of com.microsoft: determinants and inverses of square matrices, by Gaussian
// elimination with partial pivoting, in double.
#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Status check_square(const TensorView& x) {
  if (x.rank() >= 2 && x.dims.back() == x.dims[x.rank() - 2]) return {};
  return invalid_argument("its input must be square matrices");
}

Status shape_of_det(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_square(node.in(0)));
  const auto dims = node.in(0).dims;
  node.set(0, node.in(0).type, Dims(dims.begin(), dims.end() - 2));
  return {};
}

// Returns the row from `column` on that has the largest element of the column.
size_t pivot_of(std::span<const double> matrix, size_t size, size_t column) {
  size_t pivot = column;
  for (size_t row = column + 1; row < size; ++row)
    if (std::fabs(matrix[row * size + column]) > std::fabs(matrix[pivot * size + column]))
      pivot = row;
  return pivot;
}

void swap_rows(std::span<double> matrix, size_t size, size_t a, size_t b) {
  std::ranges::swap_ranges(matrix.subspan(a * size, size), matrix.subspan(b * size, size));
}

// Eliminates in place, with the largest element of each column as the pivot. Overwrites `matrix`.
double determinant(std::span<double> matrix, size_t size) {
  double result = 1;
  for (size_t column = 0; column < size; ++column) {
    const size_t pivot = pivot_of(matrix, size, column);
    if (matrix[pivot * size + column] == 0) return 0;
    if (pivot != column) {
      swap_rows(matrix, size, pivot, column);
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

Status shape_of_inverse(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_square(node.in(0)));
  return same_as_first(node);
}

// Subtracts `factor` times one row from another.
void subtract_row(std::span<double> matrix, size_t size, size_t from, size_t row, double factor) {
  for (size_t k = 0; k < size; ++k) matrix[row * size + k] -= factor * matrix[from * size + k];
}

// Returns the inverse by Gauss-Jordan elimination; elements that are not finite if the matrix is
// singular. Overwrites `matrix`.
std::vector<double> inverse_of(std::span<double> matrix, size_t size) {
  std::vector<double> inverse(size * size);
  for (size_t i = 0; i < size; ++i) inverse[i * size + i] = 1;
  for (size_t column = 0; column < size; ++column) {
    const size_t pivot = pivot_of(matrix, size, column);
    if (pivot != column) {
      swap_rows(matrix, size, pivot, column);
      swap_rows(inverse, size, pivot, column);
    }
    const double scale = 1 / matrix[column * size + column];
    for (size_t k = 0; k < size; ++k) {
      matrix[column * size + k] *= scale;
      inverse[column * size + k] *= scale;
    }
    for (size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = matrix[row * size + column];
      subtract_row(matrix, size, column, row, factor);
      subtract_row(inverse, size, column, row, factor);
    }
  }
  return inverse;
}

Status inverse(const Call& call) {
  const auto size = static_cast<size_t>(call.in(0).dims.back());
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto from = call.in(0).as<T>();
    T* to = call.out(0).as<T>().data();
    for (size_t begin = 0; begin < from.size(); begin += size * size) {
      const auto x = from.subspan(begin, size * size);
      std::vector<double> matrix(x.begin(), x.end());
      for (const double element : inverse_of(matrix, size)) *to++ = static_cast<T>(element);
    }
    return {};
  });
}

}  // namespace

std::span<const OperatorSpec> determinant_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Det", 11, {}, {}, kReals, shape_of_det, det},
      {"com.microsoft.Inverse", 1, {}, {}, kReals, shape_of_inverse, inverse},
  };
  return kOperators;
}

}  // namespace millrace::fallback
