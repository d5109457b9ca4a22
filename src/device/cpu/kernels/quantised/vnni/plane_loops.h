// Depthwise convolutions of 3x3 taps over bytes in planes (channel_groups.h), on processors with
// AVX-512 VNNI. Four windows of a plane fill a vector whatever the number of planes is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// The number of windows of a row that are computed together; a row must have at least as many.
inline constexpr size_t kPlaneWindowsAtOnce = 4;

// The filters, nine taps for each channel, in the order in which the loops read them.
std::vector<int8_t> arranged_in_planes(size_t channels, const std::vector<int8_t>& filters);

// The pixels that are read of each row of an image, from the first window on, padding included.
size_t plane_columns(const kernels::depthwise::Geometry& geometry);

// A row of the result.
struct PlaneRow {
  const uint8_t* under[kernels::depthwise::kTaps];  // the rows of the first plane under it
  size_t plane;                                     // from a plane to the next
  const int8_t* filters;                            // arranged
  ScalingView scaling;                              // arranged
  uint8_t* result;                                  // [out_width, channels]
};
// As run() in depthwise_loops.h. Requirements: at least kPlaneWindowsAtOnce windows; channels are a
// multiple of kNarrow.
void run(const DepthwiseLayer& layer, const PlaneRow& row) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised::vnni
