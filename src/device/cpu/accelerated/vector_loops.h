// Loops over floating point elements that the kernel library has no primitive for and the compiler
// cannot vectorise. The instruction set is chosen when a loop is called.
#pragma once

#include <span>

namespace millrace::device::cpu::accelerated {

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

// The numbers that integers of a type stand for: whole multiples of a step, which lie between two
// of them. Requirement: the step is positive and finite, and low <= high.
struct Steps {
  float step = 1;
  float low = 0, high = 0;  // in steps
  float for_nan = 0;        // likewise
};
// The nearest of these numbers, of two the even multiple. `to` may be `from`.
void round_to(const Steps& steps, std::span<const float> from, float* to) noexcept;

}  // namespace millrace::device::cpu::accelerated
