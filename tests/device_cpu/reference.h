// Plain definitions of the operators, written for reading; what the kernels are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/operators.h"

namespace millrace::device::cpu {

struct Tensor {
  graph::Dims dims;
  std::vector<float> data;  // C order

  // Elements that vary without repeating early, between -1 and 1, exact in BF16.
  static Tensor numbers(const graph::Dims& dims, uint32_t seed);
  static Tensor zeros(const graph::Dims& dims);

  size_t offset(const graph::Dims& index) const;
  float& at(const graph::Dims& index) { return data[offset(index)]; }
  float at(const graph::Dims& index) const { return data[offset(index)]; }
};

int64_t elements_of(const graph::Dims& dims);
// Calls `visit` with every index of `dims`, in C order.
void for_each_index(const graph::Dims& dims, const std::function<void(const graph::Dims&)>& visit);
// The element of a tensor that is broadcast to the rank and shape `index` belongs to.
float broadcast_at(const Tensor& tensor, const graph::Dims& index);

// The functions of elements by the C++ library, as IEEE 754 and ONNX define them.
float reference_unary(const graph::Activation& function, float x);
float reference_binary(graph::BinaryKind kind, float a, float b);
// Without bias, residual and activation.
Tensor reference_conv(const graph::Conv& op, const Tensor& x, const Tensor& weight,
                      const graph::Dims& result);
Tensor reference_pool(const graph::Pool& op, const Tensor& x, const graph::Dims& result);
Tensor reference_binary(graph::BinaryKind kind, const Tensor& a, const Tensor& b,
                        const graph::Dims& result);
Tensor map(const Tensor& x, const std::function<float(float)>& function);

}  // namespace millrace::device::cpu
