// median(): the median of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace millrace::bench {

// Returns the median; for an even number of values, the larger of the two in the middle.
// Requirement: there is at least one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace millrace::bench
