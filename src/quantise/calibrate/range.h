// Range: the interval of real numbers that a quantised value represents, and the usual calibration
// methods that choose it from the statistics of a value: min/max, percentile, least mean square
// error, and least Kullback-Leibler divergence (the method of TensorRT).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "quantise/calibrate/value_statistics.h"

namespace millrace::quantise {

enum class RangeMethod : uint8_t {
  kMinMax,      // the least to the greatest element seen
  kPercentile,  // without the outermost 0.005 % of the elements at each end
  kMse,         // with the least mean square error of rounding and saturation
  kEntropy,     // with the least Kullback-Leibler divergence between exact and quantised values
};
// Parses "minmax", "percentile", "mse" or "entropy"; empty for other names.
std::optional<RangeMethod> parse_range_method(std::string_view name);

// low <= 0 <= high: zero must be representable exactly, since padding is zero.
struct Range {
  float low = 0;
  float high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns the smallest range that contains both.
Range united(const Range& a, const Range& b);

// Chooses the range of a value. It lies within the hull of zero and the elements seen; it is [0, 0]
// if all of them were zero.
Range choose_range(const ValueStatistics& seen, RangeMethod method);

}  // namespace millrace::quantise
