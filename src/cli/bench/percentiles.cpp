#include "cli/bench/percentiles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace millrace::cli {

double percentile(std::span<const double> sorted, double share) {
  // Rounding may give a little more than a whole number, such as 0.07 * 100 > 7.
  constexpr double kRoundingError = 1e-9;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()) - kRoundingError);
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

Distribution distribution_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  const auto square = [mean](double value) { return (value - mean) * (value - mean); };
  const double variance =
      std::transform_reduce(values.begin(), values.end(), 0.0, std::plus<>(), square) / count;
  return {.min = values.front(),
          .median = percentile(values, 0.5),
          .p90 = percentile(values, 0.9),
          .p95 = percentile(values, 0.95),
          .p99 = percentile(values, 0.99),
          .p99_9 = percentile(values, 0.999),
          .max = values.back(),
          .mean = mean,
          .spread = std::sqrt(variance)};
}

}  // namespace millrace::cli
