// Range: the part of the real numbers that a quantised value represents, and the methods that
// choose it from what calibration has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "quantise/calibrate/value_statistics.h"

namespace millrace::quantise {

enum class RangeMethod : uint8_t {
  kMinMax,      // all that was seen
  kPercentile,  // without 0.005 % at each end
  kMse,         // with the least mean square of the error of rounding and saturation
  kEntropy,     // with the least loss of information (Kullback-Leibler divergence)
};
// "minmax", "percentile", "mse", "entropy".
std::optional<RangeMethod> parse_range_method(std::string_view name);

// low <= 0 <= high: zero must be representable exactly, since padding is zero.
struct Range {
  float low = 0;
  float high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

Range united(const Range& a, const Range& b);

// Lies within what was seen and zero; empty where nothing but zeros was.
Range choose_range(const ValueStatistics& seen, RangeMethod method);

}  // namespace millrace::quantise
