// MatMul and Gemm for the types that the MatMul of the graph does not support: integers and
// FLOAT64. Floating-point sums are computed in double; integers wrap around.

#include "fallback/broadcast.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/matrix_product.h"
#include "graph/reference/matrix_product.h"

namespace millrace::fallback {
namespace {

using reference::Matrix;
using reference::Sum;

// Returns the dimensions of an operand as a matrix: a vector is a row on the left and a column on
// the right.
Dims matrix_dims(const TensorView& operand, bool is_left) {
  if (operand.rank() != 1) return to_dims(operand.dims);
  return is_left ? Dims{1, operand.dims[0]} : Dims{operand.dims[0], 1};
}

// An operand as a matrix or a stack of matrices.
struct Factor {
  Dims dims;
  TensorView view;

  Factor(const TensorView& operand, bool is_left)
      : dims(matrix_dims(operand, is_left)), view{operand.type, dims, operand.data} {}
};

Status shape_of_matmul(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  const TensorView &a = node.in(0), &b = node.in(1);
  if (a.rank() == 0 || b.rank() == 0) return invalid_argument("an operand has rank 0");
  MILLRACE_ASSIGN_OR_RETURN(const Product product,
                            product_of(Factor(a, true).view, Factor(b, false).view));
  Dims dims = product.batch;
  if (a.rank() > 1) dims.push_back(static_cast<int64_t>(product.rows));
  if (b.rank() > 1) dims.push_back(static_cast<int64_t>(product.columns));
  node.set(0, a.type, std::move(dims));
  return {};
}

Status matmul(const Call& call) {
  const Factor a(call.in(0), true), b(call.in(1), false);
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of(a.view, b.view));
  return visit_element(a.view.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const size_t a_size = product.rows * product.depth, b_size = product.depth * product.columns;
    T* to = call.out(0).as<T>().data();
    for (size_t i = 0; i < element_count(product.batch); ++i) {
      const T* const left = a.view.as<T>().data() + matrix_index(a.view, product.batch, i) * a_size;
      const T* const right =
          b.view.as<T>().data() + matrix_index(b.view, product.batch, i) * b_size;
      reference::multiply(Matrix<T>::dense(left, product.rows, product.depth),
                          Matrix<T>::dense(right, product.depth, product.columns),
                          [&](Sum<T> sum) { *to++ = static_cast<T>(sum); });
    }
    return {};
  });
}

Result<Product> product_of_gemm(const NodeView& node) {
  const TensorView &a = node.in(0), &b = node.in(1);
  if (a.rank() != 2 || b.rank() != 2) return invalid_argument("both operands must have rank 2");
  Dims a_dims = to_dims(a.dims), b_dims = to_dims(b.dims);
  if (node.integer("transA") != 0) std::swap(a_dims[0], a_dims[1]);
  if (node.integer("transB") != 0) std::swap(b_dims[0], b_dims[1]);
  return product_of({a.type, a_dims, nullptr}, {b.type, b_dims, nullptr});
}

Status shape_of_gemm(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const Product product, product_of_gemm(node));
  Dims dims = result_dims(product);
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(const Dims joint, graph::broadcast(dims, to_dims(node.in(2).dims)));
    if (joint != dims) return invalid_argument("the third operand is larger than the result");
  }
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

// Multiplies by alpha or beta, which may be fractions for integers as well.
template <class T>
T scaled(Sum<T> sum, float factor) {
  return factor == 1 ? static_cast<T>(sum)
                     : reference::cast_to<T>(static_cast<double>(sum) * factor);
}

template <class T>
Matrix<T> factor_of_gemm(const Call& call, size_t index, const char* transposed) {
  const TensorView& factor = call.in(index);
  return Matrix<T>::dense(factor.as<T>().data(), static_cast<size_t>(factor.dims[0]),
                          static_cast<size_t>(factor.dims[1]), call.integer(transposed) != 0);
}

Status gemm(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const OutputView& out = call.out(0);
    const float alpha = call.real("alpha", 1);
    reference::multiply(
        factor_of_gemm<T>(call, 0, "transA"), factor_of_gemm<T>(call, 1, "transB"),
        [&, to = out.as<T>().data()](Sum<T> sum) mutable { *to++ = scaled<T>(sum, alpha); });
    if (!call.has(2)) return {};
    const float beta = call.real("beta", 1);
    apply_broadcast<T, T>({out.type, out.dims, out.data}, call.in(2), out.dims, out.as<T>().data(),
                          [beta](T x, T c) { return reference::Add{}(x, scaled<T>(c, beta)); });
    return {};
  });
}

constexpr AttributeSpec kGemm[] = {{"alpha", AttributeKind::kFloat},
                                   {"beta", AttributeKind::kFloat},
                                   {"transA", AttributeKind::kInteger},
                                   {"transB", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> matmul_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Gemm", 7, {2, 3}, {}, kNumbers, shape_of_gemm, gemm, kGemm},
      {"MatMul", 1, {2, 2}, {}, kNumbers, shape_of_matmul, matmul},
  };
  return kOperators;
}

}  // namespace millrace::fallback
