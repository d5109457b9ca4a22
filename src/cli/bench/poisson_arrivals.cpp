#include "cli/bench/poisson_arrivals.h"

#include <cmath>

namespace millrace::cli {

PoissonArrivals::PoissonArrivals(double per_second, uint64_t seed)
    : generator_(seed), mean_gap_ns_(1e9 / per_second) {}

// The gaps are distributed exponentially. std::exponential_distribution is not used, since each
// standard library may draw from it in its own way.
int64_t PoissonArrivals::next_ns() {
  constexpr int kMantissaBits = 53;
  const double uniform =
      std::ldexp(static_cast<double>(generator_() >> (64 - kMantissaBits)), -kMantissaBits);
  now_ns_ -= std::log1p(-uniform) * mean_gap_ns_;
  return static_cast<int64_t>(now_ns_);
}

}  // namespace millrace::cli
