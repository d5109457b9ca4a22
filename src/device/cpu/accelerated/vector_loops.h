// Loops over floating point elements for which oneDNN has no primitive and which the
// compiler cannot vectorise. The instruction set is chosen when a loop is called.
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

// The integers of a quantised type, with the zero point taken off: whole multiples of `scale` from
// `low` to `high`. Requirement: the scale is positive and finite, and low <= high.
struct QuantisedRange {
  float scale = 1;
  float low = 0, high = 0;  // integers
  float for_nan = 0;        // the integer that stands for NaN
};
// Quantises the elements and dequantises them again (fake quantisation): rounds each to the nearest
// multiple, ties to even, and saturates. `to` may be `from`.
void fake_quantise(const QuantisedRange& range, std::span<const float> from, float* to) noexcept;

}  // namespace millrace::device::cpu::accelerated
