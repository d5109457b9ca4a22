// Computes the coordinates of resampling exactly, as ratios of integers: for an element of the
// output, its position among the elements of the input. Rounding matters: at a coordinate such as
// 14.5 the nearest element depends on the last bit, and 4.5 / 0.3 - 0.5 in floating point is less
// than 14.5.
//
// The formulas are those of coordinate_transformation_mode in the ONNX operator Resize. All
// functions are pure.
#pragma once

#include <cstdint>

#include "graph/operators.h"

namespace millrace::graph {

// A positive ratio of integers.
struct Fraction {
  int64_t numerator = 1, denominator = 1;

  double value() const noexcept {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

// Returns the ratio that a model means by the scale `value`, which is positive and finite: the
// fraction of small integers that rounds to `value` in FP32 or FP64, such as 3/10 for 0.3f. If
// there is none, it is the exact value of `value`.
Fraction fraction_of(double value) noexcept;
// Returns the ratio for a scale that resizes `from` to `to` elements: to / from if that rounds to
// `value`, otherwise fraction_of(value).
Fraction fraction_of(double value, int64_t from, int64_t to) noexcept;
// Returns `size` times the scale, rounded down.
int64_t scaled_size(int64_t size, Fraction scale) noexcept;

// A coordinate, as the index of the element at or below it and the distance from that element.
struct Position {
  int64_t below = 0;
  double rest = 0;  // from 0 to less than 1; 0 and 0.5 are exact

  double value() const noexcept { return static_cast<double>(below) + rest; }
};
// Divides numerator by denominator, which is positive. The arguments have 128 bits to hold the
// products of sizes and parts of fractions.
Position position_of(__int128 numerator, __int128 denominator) noexcept;

// Return the position of output element `index` in the input, by transformation mode.
Position half_pixel_position(Fraction scale, int64_t index) noexcept;
Position asymmetric_position(Fraction scale, int64_t index) noexcept;
// align_corners: the last of `from` input elements lies on the last output element. There are from
// * scale output elements, which need not be an integer.
Position aligned_position(Fraction scale, int64_t from, int64_t index) noexcept;

// Rounds a position to an index, which may be outside of the input by one element.
int64_t nearest_index(NearestMode mode, Position position) noexcept;

}  // namespace millrace::graph
