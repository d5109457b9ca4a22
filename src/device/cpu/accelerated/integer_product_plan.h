// How a convolution or a matrix product of bytes is computed (see integer_products.cpp): its shape,
// its weights, and the primitive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"

namespace millrace::device::cpu::accelerated::integer_product {

// Operands of ConvInteger and MatMulInteger; scale and bias are those of the ...ToFloat operators.
inline constexpr size_t kX = 0, kWeights = 1, kXZero = 2, kWeightZero = 3, kScale = 4, kBias = 5;

// A convolution of images with two spatial dimensions.
struct Shape {
  using Pair = std::array<int64_t, 2>;
  int64_t images = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
  Pair size{1, 1}, kernel{1, 1}, strides{1, 1}, dilations{1, 1}, pads_begin{}, pads_end{};
  Pair positions{1, 1};
  // Whether the operand's own order is with channels last, which a matrix is.
  bool is_matrix = false;

  int64_t channels() const { return groups * inputs; }
  int64_t output_channels() const { return groups * outputs; }
  int64_t filter() const { return inputs * kernel[0] * kernel[1]; }
  int64_t padded(size_t d) const { return pads_begin[d] + size[d] + pads_end[d]; }
  bool is_padded() const { return padded(0) != size[0] || padded(1) != size[1]; }
  // Padding may be any number of times as large as the image.
  bool has_sane_padding() const {
    constexpr int64_t kMost = 16;
    for (size_t d = 0; d < 2; ++d)
      if (padded(d) > kMost * (size[d] + positions[d])) return false;
    return true;
  }
};

// Weights [output channels, filter] as INT8, less their zero points where that is possible.
struct Weights {
  std::vector<int8_t> elements;  // with a row of ones at the end where there are zero points
  std::vector<int32_t> sums;     // by output channel
  std::vector<int32_t> zeros;    // by output channel; empty: all 0

  int64_t rows() const { return static_cast<int64_t>(sums.size() + (zeros.empty() ? 0 : 1)); }
};

struct Plan {
  Shape shape;
  Weights weights;
  dnnl::convolution_forward::primitive_desc primitive;
  bool is_unfolded = false;  // the primitive multiplies windows that are rows of a matrix
};

// 128 for INT8, whose bits are those of the number plus that with the highest one flipped.
inline uint8_t shift_of(tensor::DataType type) {
  return type == tensor::DataType::kInt8 ? 0x80 : 0;
}

// The image in its frame of padding.
Dims image_dims(const Shape& shape);

// Nothing where there is no kernel for the variant. Weights and their zero points have to be
// constants, and x has to have one zero point. May throw oneDNN's exceptions.
std::optional<Plan> make_plan(const Builder& builder, const AcceleratedNode& node);

}  // namespace millrace::device::cpu::accelerated::integer_product
