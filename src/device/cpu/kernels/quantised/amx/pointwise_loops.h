// Pointwise (1x1) convolutions over bytes whose channels lie innermost, by the matrix instructions
// (AMX): a tile of pixels times tiles of filters. The exact sums are requantised as in the loops of
// VNNI. A residual is added when the result is stored, while the next tiles are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/channel_groups.h"
#include "device/cpu/kernels/tiles.h"

namespace millrace::device::cpu::kernels::quantised::amx {

using vnni::Addition;
using vnni::Encoding;
using vnni::ScalingView;

struct PointwiseLayer {
  size_t channels_in;   // a multiple of kTileRowBytes
  size_t channels_out;  // a multiple of vnni::kWide, which is the size of its groups
  Encoding encoding;
  std::optional<Addition> addition;

  size_t groups() const { return channels_out / vnni::kWide; }
};

// The filters, [channels_out, channels_in], in the order in which the loops read them.
std::vector<int8_t> arranged(const PointwiseLayer& layer, const std::vector<int8_t>& filters);

// A part of the result: some pixels, and some groups of channels of them. The pointers are those of
// the whole result and its operands.
struct PointwiseWork {
  const uint8_t* image;     // [pixels, channels_in]
  const int8_t* filters;    // arranged
  ScalingView scaling;      // arranged; the starts are of bytes as they are
  const uint8_t* residual;  // [pixels, channels_out], may be the result; null without an addition
  uint8_t* result;          // [pixels, channels_out]
  size_t pixels;            // of the image, kTileRows of them or more
  size_t first_pixel, pixel_count;
  size_t first_group, group_count;
};
// Requirement: may_use_tiles().
void run(const PointwiseLayer& layer, const PointwiseWork& work) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised::amx
