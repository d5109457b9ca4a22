// Vector loops for a 1x1 (pointwise) convolution followed by a depthwise one of 3x3 taps, on images
// in blocks of channels. The instruction set is chosen when they are called.
//
// The intermediate image is the largest of mobile networks, and takes longer to write and to read
// again than to compute. Here only some rows of a few of its blocks exist at a time.
#pragma once

#include <cstddef>

#include "device/cpu/kernels/separable/geometry.h"

namespace millrace::device::cpu::kernels::separable {

// Returns the number of channels of a block, 8 or 16, which fill vectors on this processor.
size_t vector_block() noexcept;

// Requirement: the images are in blocks of channels.
void run(const Geometry& geometry, const Layer& pointwise, const Layer& depthwise,
         const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::separable
