#include "cli/compare/cosine.h"

#include <algorithm>
#include <cmath>

namespace millrace::cli {
namespace {

double largest_of(std::span<const float> values) {
  double largest = 0;
  for (const float value : values)
    if (!std::isnan(value)) largest = std::max(largest, std::abs(double{value}));
  return largest;
}

// Divides a value by the vector's largest magnitude. Beside infinity, finite values become 0.
double share_of(float value, double largest) {
  if (value == 0 || std::isnan(value)) return 0;
  if (std::isinf(value)) return std::copysign(1.0, value);
  return value / largest;
}

}  // namespace

double cosine_of(std::span<const float> ours, std::span<const float> theirs) {
  const double ours_largest = largest_of(ours), theirs_largest = largest_of(theirs);
  double dot = 0, ours_squared = 0, theirs_squared = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double x = share_of(ours[i], ours_largest), y = share_of(theirs[i], theirs_largest);
    dot += x * y;
    ours_squared += x * x;
    theirs_squared += y * y;
  }
  if (ours_squared == 0 && theirs_squared == 0) return 1;
  if (ours_squared == 0 || theirs_squared == 0) return 0;
  // One root of the product is exact for equal vectors, and rounding must not leave the range.
  return std::clamp(dot / std::sqrt(ours_squared * theirs_squared), -1.0, 1.0);
}

}  // namespace millrace::cli
