// Depthwise convolutions of 3x3 taps over bytes whose channels lie innermost, on processors with
// AVX-512 VNNI: exact sums of products, scaled to bytes as oneDNN does it.
//
// oneDNN multiplies one pixel at a time. Here the bytes of four pixels that follow each other
// are interleaved, so that one instruction (VPDPBUSD) adds up the products of a row of taps, for
// each of the two windows that lie over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/kernels/depthwise/window.h"
#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// The number of windows of a row that are computed together: those that begin with the first and
// the second of four pixels. A row must have at least as many.
inline constexpr size_t kWindowsAtOnce = 2;

// The filters, nine taps for each channel, in the order in which the loops read them.
std::vector<int8_t> arranged_depthwise(size_t channels, const std::vector<int8_t>& filters);

struct DepthwiseLayer {
  kernels::depthwise::Geometry geometry;  // channels: a multiple of kWide
  Encoding encoding;
};

struct DepthwiseWork {
  const uint8_t* image;
  const uint8_t* padding;  // kPaddingPixels
  const int8_t* filters;   // arranged
  ScalingView scaling;     // arranged
  uint8_t* result;
  size_t first_row, rows;  // of the result
};
// INT8 elements of the image are multiplied with 128 added to them: it is for the starts of the
// sums to take that away. Requirement: the processor has AVX-512 VNNI.
void run(const DepthwiseLayer& layer, const DepthwiseWork& work) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised::vnni
