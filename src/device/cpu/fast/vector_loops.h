// Loops over floating point elements that the kernel library has no primitive for and the compiler
// cannot vectorise. The instruction set is chosen when a loop is called.
#pragma once

#include <span>

namespace millrace::device::cpu::fast {

struct Moments {
  double mean = 0, variance = 0;
};

// Summed in FP32 over some thousands of elements at a time, and those sums in double. Requirement:
// there is an element.
Moments moments_of(std::span<const float> elements) noexcept;

// to[i] = (from[i] - centre) * scale + shift
struct Affine {
  float centre = 0, scale = 1, shift = 0;
};
void apply(const Affine& affine, std::span<const float> from, float* to) noexcept;

// The least and the greatest of the elements and 0, NaN left out.
struct Range {
  float low = 0, high = 0;
};
Range range_with_zero(std::span<const float> elements) noexcept;

}  // namespace millrace::device::cpu::fast
