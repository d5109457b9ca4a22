// Chooses the vendor's form for a quantised input or output: INT8, zero point 0, and a power of two
// as scale. Programs for the board pass a scale but no zero point, so HW views have this form if
// the model's own form is different.
//
// A device requantises between the two forms: the real value that an integer of one form represents
// becomes the nearest integer of the other, with ties to even and saturation. Thread-safe.
#pragma once

#include "graph/boundary_quantisation.h"

namespace millrace::graph {

// Scales are 2^-126 to 2^120. These, their reciprocals and all real values that INT8 represents
// with them are normal FLOAT32 values.
inline constexpr int kLeastVendorExponent = -126;
inline constexpr int kGreatestVendorExponent = 120;

bool is_vendor_form(const BoundaryQuantisation& form) noexcept;

// Returns `own` itself if it is in the vendor's form. Otherwise returns the vendor's form with the
// least mean square error over all real values that the integers of `own` represent. It covers
// their range, or it is one step finer if the halved scale reduces the error by more than
// saturation adds: [0, 1] gets 2^-7, in which 1 becomes 127/128.
BoundaryQuantisation vendor_form(const BoundaryQuantisation& own) noexcept;

// Returns the real value nearest to `value` that `form` can represent; ties go to the even integer.
// `value` must not be NaN.
double nearest_number(const BoundaryQuantisation& form, double value) noexcept;

// The rounding error of converting the real values that `own` represents to `view`, in units of the
// scale of `own`. Every integer of `own` has the same weight.
struct RequantisationError {
  double largest = 0;
  double root_mean_square = 0;
};
RequantisationError requantisation_error(const BoundaryQuantisation& own,
                                         const BoundaryQuantisation& view) noexcept;

}  // namespace millrace::graph
