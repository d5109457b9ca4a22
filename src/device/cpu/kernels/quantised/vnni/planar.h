// Depthwise convolutions of 3x3 taps on rows in planes of 16 channels (channel_groups.h), which let
// the loops fill their vectors with any number of channels. Only three rows exist at a time. They
// are copied from an image with channels innermost, or made by a 1x1 (pointwise) convolution: its
// result is the largest image of mobile networks, and is not stored then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device/cpu/kernels/quantised/vnni/plane_loops.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

struct PlanarLayer {
  std::optional<PointwiseLayer> pointwise;
  DepthwiseLayer depthwise;  // channels: a multiple of kNarrow
  uint8_t padding;           // the byte around its image

  // The number of channels of the image that is read.
  size_t channels_in() const {
    return pointwise ? pointwise->channels_in : depthwise.geometry.channels;
  }
  // Sizes of a row in planes: the distance from a plane to the next, and the size of all planes.
  size_t plane_bytes() const;
  size_t row_bytes() const;
  // Size of the scratch memory of each thread: the rows that exist, and one of padding.
  size_t scratch_bytes() const;
};

struct PlanarWork {
  // The arranged constants of one of the two convolutions.
  struct Constants {
    const int8_t* filters;
    ScalingView scaling;
  };
  const uint8_t* image;            // [height, width, channels_in]
  Constants pointwise, depthwise;  // the first one is not used without a pointwise convolution
  uint8_t* result;                 // [out_height, out_width, channels]
  uint8_t* scratch;                // aligned to a cache line
  size_t first_row, rows;          // of the result
};
// Gives the results of run() of the one or two convolutions, bit for bit.
void run(const PlanarLayer& layer, const PlanarWork& work) noexcept;

}  // namespace millrace::device::cpu::kernels::quantised::vnni
