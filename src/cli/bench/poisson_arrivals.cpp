#include "cli/bench/poisson_arrivals.h"

#include <cmath>

namespace millrace::cli {

PoissonArrivals::PoissonArrivals(double per_second, uint64_t seed)
    : generator_(seed), mean_gap_ns_(1e9 / per_second) {}

// The gaps are exponentially distributed, by inversion of a uniform variable. The result of
// std::exponential_distribution would depend on the standard library.
int64_t PoissonArrivals::next_ns() {
  constexpr int kMantissaBits = 53;
  const double uniform =
      std::ldexp(static_cast<double>(generator_() >> (64 - kMantissaBits)), -kMantissaBits);
  now_ns_ -= std::log1p(-uniform) * mean_gap_ns_;
  return static_cast<int64_t>(now_ns_);
}

}  // namespace millrace::cli
