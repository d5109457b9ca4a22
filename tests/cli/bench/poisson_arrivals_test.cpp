#include "cli/bench/poisson_arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace millrace::test {
namespace {

using cli::PoissonArrivals;

std::vector<int64_t> first(size_t count, double per_second, uint64_t seed) {
  PoissonArrivals arrivals(per_second, seed);
  std::vector<int64_t> times(count);
  std::ranges::generate(times, [&] { return arrivals.next_ns(); });
  return times;
}

TEST(PoissonArrivals, AreTheSameForTheSameSeedOnly) {
  EXPECT_EQ(first(100, 50, 7), first(100, 50, 7));
  EXPECT_NE(first(100, 50, 7), first(100, 50, 8));
}

// A seed from a report gives the same load in a build by another compiler, too.
TEST(PoissonArrivals, AreTheSameEverywhere) {
  const std::vector<int64_t> times = first(3, 100, 1);
  const int64_t expected[] = {1'437'279, 2'903'816, 8'904'300};
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(expected[i]), 1);
}

TEST(PoissonArrivals, AscendAndComeAtTheGivenRate) {
  constexpr size_t kCount = 100'000;
  const std::vector<int64_t> times = first(kCount, 1000, 3);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  // The standard deviation of the mean is 0.3 %.
  EXPECT_NEAR(static_cast<double>(times.back()) / kCount, 1e6, 1e4);
}

// The standard deviation of the gaps of a Poisson process equals their mean. Regular arrivals would
// not test a server.
TEST(PoissonArrivals, HaveExponentialGaps) {
  constexpr size_t kCount = 100'000;
  const std::vector<int64_t> times = first(kCount, 1000, 4);
  double squares = 0;
  size_t beyond_mean = 0;
  for (size_t i = 1; i < kCount; ++i) {
    const double gap = static_cast<double>(times[i] - times[i - 1]) * 1e-6;
    squares += (gap - 1) * (gap - 1);
    beyond_mean += gap > 1 ? 1 : 0;
  }
  EXPECT_NEAR(squares / kCount, 1, 0.05);
  EXPECT_NEAR(static_cast<double>(beyond_mean) / kCount, std::exp(-1), 0.01);
}

TEST(PoissonArrivals, OfAHighRateDoNotGoBack) {
  EXPECT_TRUE(std::ranges::is_sorted(first(10'000, 1e12, 5)));
}

}  // namespace
}  // namespace millrace::test
