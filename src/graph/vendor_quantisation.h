// Chooses the vendor's form for a quantised input or output: INT8, zero point 0, and a power of two
// as scale. Programs for the board pass a scale but no zero point, so HW views have this form if
// the model's own form is different.
//
// A device requantises between the two forms: an integer of one stands for a number, which becomes
// the nearest integer of the other, with ties to even and saturation. Thread-safe.
#pragma once

#include "graph/boundary_quantisation.h"

namespace millrace::graph {

// The scales are 2^-126 to 2^120: these, their reciprocals and all numbers that INT8 represents
// with them are normal FLOAT32 numbers.
inline constexpr int kLeastVendorExponent = -126;
inline constexpr int kGreatestVendorExponent = 120;

bool is_vendor_form(const BoundaryQuantisation& form) noexcept;

// Returns `own` itself if it is in the vendor's form. Otherwise returns the vendor's form with the
// least mean square error over all numbers that the integers of `own` represent. It covers their
// range, or it is one step finer if halving the steps gains more than saturation costs: [0, 1] gets
// 2^-7, in which 1 becomes 127/128.
BoundaryQuantisation vendor_form(const BoundaryQuantisation& own) noexcept;

// Returns the number of `form` nearest to `value`, which is not NaN; ties go to the even integer.
double nearest_number(const BoundaryQuantisation& form, double value) noexcept;

// The distance by which numbers that `own` represents move when they are rounded to numbers of
// `view`, in units of the scale of `own`; every integer has the same weight.
struct RequantisationError {
  double largest = 0;
  double root_mean_square = 0;
};
RequantisationError requantisation_error(const BoundaryQuantisation& own,
                                         const BoundaryQuantisation& view) noexcept;

}  // namespace millrace::graph
