// Pointwise (1x1) convolutions over bytes whose channels lie innermost, on processors with AVX-512
// VNNI: exact sums of products, scaled to bytes as oneDNN does it, with another operand added
// in networks with residual connections. Each vector of filters that is loaded is multiplied with
// several pixels; and with few channels, what is made of a sum takes as long as its products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// An instruction multiplies the bytes of so many channels at once.
inline constexpr size_t kWordBytes = 4;

struct PointwiseLayer {
  size_t channels_in;   // a multiple of kWordBytes
  size_t channels_out;  // at least kNarrow; a multiple of kWide where something is added
  Encoding encoding;
  std::optional<Addition> addition = std::nullopt;
};

// The filters, [channels_out, channels_in], in the order in which the loops read them.
std::vector<int8_t> arranged_pointwise(const PointwiseLayer& layer,
                                       const std::vector<int8_t>& filters);

struct PointwiseWork {
  const uint8_t* image;   // [pixels, channels_in]
  const int8_t* filters;  // arranged
  ScalingView scaling;    // arranged
  // [pixels, channels_out], may be the result; null without an addition.
  const uint8_t* residual = nullptr;
  uint8_t* result;  // [pixels, channels_out], or planes, without an addition
  size_t pixels;
  // From a plane of the result to the next; 0 where channels lie innermost. Planes: channels_out is
  // a multiple of kNarrow.
  size_t plane = 0;
};
// As run() in depthwise_loops.h.
void run(const PointwiseLayer& layer, const PointwiseWork& work) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised::vnni
