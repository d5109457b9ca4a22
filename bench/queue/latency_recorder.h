// LatencyRecorder: stores every sample of one run, for percentiles. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::bench {

class LatencyRecorder {
 public:
  // Reserves memory for `expected` samples, so that recording them allocates nothing.
  explicit LatencyRecorder(size_t expected) { samples_ns_.reserve(expected); }

  void add(int64_t ns) { samples_ns_.push_back(ns); }

  // Returns the time in nanoseconds that a fraction `share` (0 to 1) of the samples does not
  // exceed. Requirement: there is a sample.
  double percentile(double share) {
    const auto at = samples_ns_.begin() +
                    static_cast<ptrdiff_t>(share * static_cast<double>(samples_ns_.size() - 1));
    std::nth_element(samples_ns_.begin(), at, samples_ns_.end());
    return static_cast<double>(*at);
  }

 private:
  std::vector<int64_t> samples_ns_;
};

}  // namespace millrace::bench
