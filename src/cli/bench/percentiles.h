// Statistics of a set of measured times. Thread-safe.
#pragma once

#include <span>
#include <vector>

namespace millrace::cli {

// Returns a percentile by the nearest-rank method: the least of the values that at least this share
// of them does not exceed, for 0 <= share <= 1; the least value if the share is 0. Requirement:
// `sorted` ascends and is not empty.
double percentile(std::span<const double> sorted, double share);

// Statistics in the unit of the values. `spread` is their standard deviation.
struct Distribution {
  double min = 0, median = 0, p90 = 0, p95 = 0, p99 = 0, p99_9 = 0, max = 0, mean = 0, spread = 0;
};

// The values may be in any order. Requirement: there is at least one.
Distribution distribution_of(std::vector<double> values);

}  // namespace millrace::cli
