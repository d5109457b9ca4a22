// Vector loops for maximum pooling of images whose channels are contiguous, for FP32 and BF16
// (uint16_t). A NaN of either sign in a window makes its result NaN. +0 is larger than -0 in BF16;
// in FP32 the result may be either. The instruction set is chosen when the function is called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/pooling/window_plan.h"

namespace millrace::device::cpu::kernels::max_pooling {

// With fewer channels the smallest vector is not full.
inline constexpr size_t kLeastChannels = 8;

// Images are [depth, height, width, channels]; every window of `plan` has at least one element.
template <class Number>
struct Work {
  const WindowPlan* plan;
  size_t channels;  // at least kLeastChannels
  const Number* image;
  Number* result;
  size_t first_row, rows;  // rows of the result, at all positions in depth
};
void run(const Work<float>& work) noexcept;
void run(const Work<uint16_t>& work) noexcept;

// Returns whether the lowest finite number, or -inf in BF16, is among the elements.
bool has_lowest(const float* elements, size_t count) noexcept;
bool has_lowest(const uint16_t* elements, size_t count) noexcept;

}  // namespace millrace::device::cpu::kernels::max_pooling
