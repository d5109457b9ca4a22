// Statistics of a set of measured times. Thread-safe.
#pragma once

#include <span>
#include <vector>

namespace millrace::cli {

// The smallest of the values that at least this share of them does not exceed (nearest rank), with
// 0 <= share <= 1; the least value where the share is 0. Requirement: `sorted` ascends and is not
// empty.
double percentile(std::span<const double> sorted, double share);

// In the unit of the values.
struct Distribution {
  double min = 0, median = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0, mean = 0;
};

// Requirement: there is at least one value. The order does not matter.
Distribution distribution_of(std::vector<double> values);

}  // namespace millrace::cli
