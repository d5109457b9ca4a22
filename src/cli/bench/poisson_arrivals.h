// PoissonArrivals generates the arrival times of a Poisson process, which models many independent
// clients of a server. One thread.
#pragma once

#include <cstdint>
#include <random>

namespace millrace::cli {

class PoissonArrivals {
 public:
  // `per_second`, more than zero, is the mean rate. The same seed gives the same times everywhere.
  PoissonArrivals(double per_second, uint64_t seed);

  // Returns the next arrival in nanoseconds since the start of the run. Arrivals never descend.
  int64_t next_ns();

 private:
  std::mt19937_64 generator_;
  double mean_gap_ns_;
  double now_ns_ = 0;
};

}  // namespace millrace::cli
