// What loops of the device's own are given of a convolution of bytes: how its sums become bytes,
// its images, and constants in the order in which they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/builder.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/vnni/channel_groups.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// From INT8 to UINT8.
inline constexpr int32_t kSignedShift = 128;

// A Conv on integers. Sums of products, less those of the zero point, plus `biases`, times
// `factors`, are in steps of the result.
struct Convolution {
  const graph::Conv* op;
  Dims x, weight, y;
  ElementType x_type;    // u8 or s8
  int32_t x_zero_point;  // which is padded with, too
  const Weights* weights;
  std::vector<float> biases, factors;  // one for each channel
  ResultRule result;
};

// What is added to the result of a convolution.
struct ResidualRule {
  ElementType type;  // u8 or s8
  tensor::ElementRule rule;
  ResultRule sum;
};

// Whether the Conv reads each pixel by itself, and all of them.
bool is_pointwise(const Convolution& convolution);

// Nothing where what is stored are no bytes, or not between bounds that are numbers, where scaled
// sums do not fit 32 bits, or where this build has no loops.
std::optional<Encoding> encoding_of(const Convolution& convolution);

// Nothing where numbers become too large for the integers that they are rounded to, or where the
// sum is not stored in bytes.
std::optional<Addition> addition_of(const Convolution& convolution, const ResidualRule& residual);

// What becomes of the sums of each channel. `image_shift` is what the loop adds to the bytes of the
// image before it multiplies them.
Scaling scaling_of(const Convolution& convolution, const Encoding& encoding, int32_t image_shift);

// The images of a convolution, or of two that are one step, with their channels innermost.
struct ImageBuffers {
  BufferId x, y;
  std::optional<BufferId> residual = std::nullopt;  // may be y

  // Null without a residual.
  const uint8_t* residual_bytes(const RunState& state) const;
  void append_to(std::vector<BufferId>& buffers) const;
};

// Where the constants of a convolution lie, arranged.
struct ConstantBuffers {
  BufferId filters, starts, biases, factors;

  ScalingView scaling(const RunState& state) const;
  void append_to(std::vector<BufferId>& buffers) const;
};

BufferId add_constant(Builder& builder, const std::vector<uint8_t>& elements);
// Both arranged.
ConstantBuffers add_constants(Builder& builder, const std::vector<int8_t>& filters,
                              const Scaling& scaling);

}  // namespace millrace::device::cpu::kernels::quantised::vnni
