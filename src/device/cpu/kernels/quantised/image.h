// Images of up to four channels, whose pixels are stored as words of four bytes, so that a
// convolution reads pixels without shuffling bytes. The HW view HCWNC4 of one image has the same
// layout.
#pragma once

#include "device/cpu/dnnl/desc.h"

namespace millrace::device::cpu::kernels::quantised {

inline constexpr int kPixelChannels = 4;

// Whether the dimensions are those of one image with 1 to 4 channels.
inline bool is_image_of_pixels(const Dims& dims) {
  return dims.size() == 4 && dims[0] == 1 && dims[1] <= kPixelChannels;
}

// Requirement of both: is_image_of_pixels(dims).
inline Desc pixels_desc(const Dims& dims, ElementType type) {
  return hcwnc_desc(dims, type, kPixelChannels);
}
// Returns the dimensions with all four channels.
inline Dims pixel_dims(Dims dims) {
  dims[1] = kPixelChannels;
  return dims;
}

}  // namespace millrace::device::cpu::kernels::quantised
