// Vector loops for depthwise convolutions of BF16 images whose channels lie innermost. They
// multiply and add in FP32. The instruction set is chosen when they are called.
//
// Matrix instructions do not compute depthwise convolutions, and oneDNN converts the pixels of each
// window again. Here a vector of a pixel's channels is split once into even and odd channels, and
// used for all of four windows that it is under.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/depthwise/window.h"

namespace millrace::device::cpu::kernels::depthwise {

// Returns groups of the size of a vector. The size is 0 if there are fewer channels than a vector
// holds: then oneDNN is faster.
Groups groups_of(size_t channels) noexcept;

// Arranges [channels, each] as [groups][each][even channels, odd channels].
void arrange(const Groups& groups, size_t each, const float* from, float* to) noexcept;

struct Layer {
  Geometry geometry;
  Groups groups;
  float least, most;  // results are kept between them
};

struct Work {
  const uint16_t* image;
  const uint16_t* zeros;  // kPaddingPixels
  const float* filters;   // arranged, of 9 taps
  const float* bias;      // arranged, or null
  uint16_t* result;
  size_t first_row, rows;  // of the result
};
void run(const Layer& layer, const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::depthwise
