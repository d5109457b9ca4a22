// Products of matrices by oneDNN, in layouts for which it gives right results.
#pragma once

#include <optional>

#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {

// y = a b + bias, of [..., M, K] and [..., K, N] with the same rank. A leading dimension of size 1
// is broadcast to that of y.
struct ProductOperation {
  Desc a, b;
  Desc bias;  // [1..., N]; empty: none
  Desc y;
};

// Returns the same operation on the same memory in a form that this version of oneDNN computes
// rightly, or nothing if there is none for these layouts. There is one where all are plain, or
// plain but for the two last dimensions of a factor, which are swapped.
std::optional<ProductOperation> in_this_version(const ProductOperation& operation);

// Returns the primitive, or an empty one if there is none for these layouts. `choose` is that of
// choose_primitive. The tensors may be given to the primitive as they are described in `operation`.
// May throw dnnl::error, too.
template <class Choose>
dnnl::matmul::primitive_desc choose_product(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes,
                                            const Choose& choose,
                                            const ProductOperation& operation) {
  const auto told = in_this_version(operation);
  if (!told) return {};
  return choose_primitive<dnnl::matmul>(engine, attributes, choose, told->a, told->b, told->bias,
                                        told->y);
}

// The same with the implementation that oneDNN takes.
dnnl::matmul::primitive_desc find_product(const dnnl::engine& engine,
                                          const dnnl::primitive_attr& attributes,
                                          const ProductOperation& operation);

}  // namespace millrace::device::cpu
