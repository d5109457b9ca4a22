// PoissonArrivals: the times at which the clients of a server send their requests when they are
// many and know nothing of each other, nor of how busy the server is. One thread.
#pragma once

#include <cstdint>
#include <random>

namespace millrace::cli {

class PoissonArrivals {
 public:
  // `per_second`, more than zero, is the mean rate. The same seed gives the same times everywhere.
  PoissonArrivals(double per_second, uint64_t seed);

  // The next arrival, in nanoseconds since the start of the run; never before the one before it.
  int64_t next_ns();

 private:
  std::mt19937_64 generator_;
  double mean_gap_ns_;
  double now_ns_ = 0;
};

}  // namespace millrace::cli
