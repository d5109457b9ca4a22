// The median of what a benchmark has measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace millrace::bench {

// The median; of an even number of values the larger one in the middle. There must be one at least.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace millrace::bench
