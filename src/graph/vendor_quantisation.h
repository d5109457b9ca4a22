// The vendor's form of a quantised input or output: INT8, zero point 0, and a power of two as
// scale. Programs for the board pass a scale and no zero point, so HW views have this form where
// the model's own is another one.
//
// A device requantises between the two forms: an integer of one becomes the number that it stands
// for, and that the nearest integer of the other, ties to even, saturated. Thread-safe.
#pragma once

#include "graph/boundary_quantisation.h"

namespace millrace::graph {

// The scales 2^-126 to 2^120: normal FLOAT32 numbers, as are their reciprocals and every number
// that INT8 stands for with them.
inline constexpr int kLeastVendorExponent = -126;
inline constexpr int kGreatestVendorExponent = 120;

bool is_vendor_form(const BoundaryQuantisation& form) noexcept;

// `own` itself where it is in the vendor's form. Otherwise the vendor's form with the least mean
// square error over all numbers that the integers of `own` stand for. That covers their range, or
// is the next finer one where the steps that it halves cost more than what then saturates: [0, 1]
// gets 2^-7, of which 1 is 127/128.
BoundaryQuantisation vendor_form(const BoundaryQuantisation& own) noexcept;

// The number of `form` that is nearest to `value`, which is no NaN: ties go to the even integer.
double nearest_number(const BoundaryQuantisation& form, double value) noexcept;

// How far the numbers that the integers of `own` stand for move when they are rounded to the ones
// of `view`, in units of the scale of `own`; every integer counts the same.
struct RequantisationError {
  double largest = 0;
  double root_mean_square = 0;
};
RequantisationError requantisation_error(const BoundaryQuantisation& own,
                                         const BoundaryQuantisation& view) noexcept;

}  // namespace millrace::graph
