// The parameters of a convolution of bytes for the device's own loops: the requantisation of its
// sums, its images, and its constants in the order in which they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/vnni/channel_groups.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// The shift from INT8 to UINT8.
inline constexpr int32_t kSignedShift = 128;

// A Conv on integers: result = (sum of products - products of the zero point + bias) * factor, in
// units of the scale of the result.
struct Convolution {
  const graph::Conv* op;
  Dims x, weight, y;
  ElementType x_type;    // u8 or s8
  int32_t x_zero_point;  // also the value of the padding
  const Weights* weights;
  std::vector<float> biases, factors;  // one for each channel
  ResultRule result;
};

// The operand that is added to the result of a convolution.
struct ResidualRule {
  ElementType type;  // u8 or s8
  tensor::ElementRule rule;
  ResultRule sum;
};

// Whether the Conv is pointwise (1x1), at stride 1 and without padding.
bool is_pointwise(const Convolution& convolution);

// Returns nothing if the result is not stored as bytes, or not between bounds that are numbers, if
// scaled sums do not fit 32 bits, or if this build has no loops.
std::optional<Encoding> encoding_of(const Convolution& convolution);

// Returns nothing if numbers become too large for the integers that they are rounded to, or if the
// sum is not stored in bytes.
std::optional<Addition> addition_of(const Convolution& convolution, const ResidualRule& residual);

// Returns the scaling of the sums of each channel. `image_shift` is the number that the loop adds
// to the bytes of the image before it multiplies them.
Scaling scaling_of(const Convolution& convolution, const Encoding& encoding, int32_t image_shift);

// The images of a convolution, or of two that are one step, with their channels innermost.
struct ImageBuffers {
  BufferId x, y;
  std::optional<BufferId> residual = std::nullopt;  // may be y

  // Returns null without a residual.
  const uint8_t* residual_bytes(const RunState& state) const;
  void append_to(std::vector<BufferId>& buffers) const;
};

// The buffers of the constants of a convolution, which are arranged.
struct ConstantBuffers {
  BufferId filters, starts, biases, factors;

  ScalingView scaling(const RunState& state) const;
  void append_to(std::vector<BufferId>& buffers) const;
};

BufferId add_constant(Builder& builder, const std::vector<uint8_t>& elements);
// Requirement: both are arranged.
ConstantBuffers add_constants(Builder& builder, const std::vector<int8_t>& filters,
                              const Scaling& scaling);

}  // namespace millrace::device::cpu::kernels::quantised::vnni
