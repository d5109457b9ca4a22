// Convolutions of a BF16 image of up to four channels, whose pixels have room for four, by the
// matrix instructions (AMX). oneDNN's kernels multiply three channels at a time, although a row of
// a tile has room for 32 elements. Here a row of a tile holds a row of taps with all their
// channels. They follow each other in the image, so a tile of windows is loaded from it as it is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels::few_channels {

// The room of a pixel, in channels; the channels of the result that a tile has; and the most taps:
// the filters of more rows of taps would not stay in tiles.
inline constexpr size_t kRoom = 4, kBlock = 16, kMostTapsY = 3, kMostTapsX = 8;
// The number of windows that are computed together.
inline constexpr size_t kWindows = 16;

struct Geometry {
  size_t channels;  // of the image, up to kRoom
  size_t height, width;
  size_t channels_out;
  size_t out_height, out_width;  // at least 1, and at least kWindows
  size_t taps_y, taps_x;         // from 1 to kMostTapsY, and to kMostTapsX
  size_t stride_y, stride_x;
  size_t above, left;  // zeros around the image

  size_t blocks() const { return (channels_out + kBlock - 1) / kBlock; }
  // Size of a row of the image, with zeros around it.
  size_t row_elements() const { return ((out_width - 1) * stride_x + taps_x) * kRoom; }
  // Size of the scratch memory of each thread: the rows under one of the result, and zeros.
  size_t scratch_elements() const { return (taps_y + 1) * row_elements(); }
  // Size of the filters of a block of channels for a row of taps, and size of all filters.
  size_t filter_elements() const { return taps_x * kRoom * kBlock; }
  size_t all_filter_elements() const { return blocks() * taps_y * filter_elements(); }
};

// Arranges filters [result channels, channels, taps, taps], in FP32.
void arrange_filters(const Geometry& geometry, const float* from, uint16_t* to) noexcept;

// Some rows of the result.
struct Work {
  const uint16_t* image;    // [height, width, kRoom]; elements beyond its channels are ignored
  const uint16_t* filters;  // arranged
  const float* bias;        // [blocks, kBlock], or null
  float least, most;        // results are kept between them
  uint16_t* result;         // [out_height, out_width, channels_out]
  uint16_t* scratch;        // scratch_elements()
  size_t first_row, rows;
};
// Requirement: may_use_tiles().
void run(const Geometry& geometry, const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::few_channels
