#include "cli/bench/ideal_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "cli/bench/percentiles.h"
#include "cli/bench/poisson_arrivals.h"

namespace millrace::test {
namespace {

using cli::ideal_latencies_ns;
using Times = std::vector<int64_t>;

TEST(IdealQueue, ServesInTheOrderOfArrival) {
  EXPECT_EQ(ideal_latencies_ns(Times{0, 1, 2}, Times{10, 10, 10}, 1), (Times{10, 19, 28}));
}

TEST(IdealQueue, GivesARequestToTheFirstServerThatIsFree) {
  EXPECT_EQ(ideal_latencies_ns(Times{0, 1, 2, 3}, Times{10, 4, 10, 1}, 2), (Times{10, 4, 13, 8}));
}

TEST(IdealQueue, AddsNothingWhereAServerIsFree) {
  EXPECT_EQ(ideal_latencies_ns(Times{0, 100, 200}, Times{10, 20, 30}, 1), (Times{10, 20, 30}));
  EXPECT_EQ(ideal_latencies_ns(Times{5, 5, 5}, Times{10, 20, 30}, 3), (Times{10, 20, 30}));
}

TEST(IdealQueue, OfNothingIsEmpty) {
  EXPECT_TRUE(ideal_latencies_ns({}, {}, 2).empty());
}

// Returns the 99th percentile of the latency, divided by the service time, which is constant.
// `load` is the utilisation of the servers.
double p99_over_service(double load, uint32_t servers) {
  constexpr size_t kRequests = 400'000;
  constexpr int64_t kService = 1'000'000;
  cli::PoissonArrivals arrivals(load * servers * 1e9 / kService, 11);
  Times times;
  for (size_t i = 0; i < kRequests; ++i) times.push_back(arrivals.next_ns());
  std::vector<double> latencies;
  for (const int64_t ns : ideal_latencies_ns(times, Times(kRequests, kService), servers))
    latencies.push_back(static_cast<double>(ns) / kService);
  return cli::distribution_of(latencies).p99;
}

// Expects the values of queueing theory for Poisson arrivals and constant services (M/D/2, M/D/1).
TEST(IdealQueue, AgreesWithTheory) {
  EXPECT_NEAR(p99_over_service(0.50, 2), 2.6, 0.1);
  EXPECT_NEAR(p99_over_service(0.70, 2), 4.1, 0.2);
  EXPECT_NEAR(p99_over_service(0.87, 2), 9.2, 0.6);
  EXPECT_NEAR(p99_over_service(0.50, 1), 4.4, 0.2);
  EXPECT_NEAR(p99_over_service(0.70, 1), 7.5, 0.4);
}

}  // namespace
}  // namespace millrace::test
