#include "cli/bench/percentiles.h"

#include <algorithm>
#include <cmath>
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
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.min = values.front(),
          .median = percentile(values, 0.5),
          .p90 = percentile(values, 0.9),
          .p99 = percentile(values, 0.99),
          .p99_9 = percentile(values, 0.999),
          .max = values.back(),
          .mean = sum / static_cast<double>(values.size())};
}

}  // namespace millrace::cli
