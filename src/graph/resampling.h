// Coordinates of resampling, exactly: which position among the elements of the input an element of
// the output has, as a ratio of integers. Of a coordinate such as 14.5 the nearest element depends
// on its last bit, and 4.5 / 0.3 - 0.5 in floating point is less.
//
// Formulas: coordinate_transformation_mode of the ONNX operator Resize. Functions are pure.
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

// What a scale stands for that a model states as `value`, which is positive and finite: the
// fraction of small integers that is `value` when it is rounded to FP32 or FP64, 3/10 for 0.3f;
// where there is none, `value` itself.
Fraction fraction_of(double value) noexcept;
// The same for a scale that makes `to` elements of `from`: their ratio, where `value` can be that.
Fraction fraction_of(double value, int64_t from, int64_t to) noexcept;
// So many elements times the scale, rounded down.
int64_t scaled_size(int64_t size, Fraction scale) noexcept;

// A coordinate: the element at or below it, and how far beyond that it lies.
struct Position {
  int64_t below = 0;
  double rest = 0;  // from 0 to less than 1; 0 and 0.5 are exact

  double value() const noexcept { return static_cast<double>(below) + rest; }
};
// 128 bits hold the products of sizes and of the parts of a fraction.
Position position_of(__int128 numerator, __int128 denominator) noexcept;

// Where element `index` of the output lies.
Position half_pixel_position(Fraction scale, int64_t index) noexcept;
Position asymmetric_position(Fraction scale, int64_t index) noexcept;
// The last of `from` elements lies on the last one of as many as the scale makes, which need not be
// a whole number of them.
Position aligned_position(Fraction scale, int64_t from, int64_t index) noexcept;

// May lie outside of the input by an element.
int64_t nearest_index(NearestMode mode, Position position) noexcept;

}  // namespace millrace::graph
