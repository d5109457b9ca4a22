// The search for a rate, with a server whose limit is known, and the conditions that it takes.
#include "cli/bench/rate_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/bench/latency_condition.h"

namespace millrace::test {
namespace {

struct Searched {
  std::optional<double> found;
  int runs = 0;
};

// Searches for the limit of a server that can do 100 jobs per second.
Searched search_for(double limit) {
  cli::RateSearch search(100);
  Searched result;
  for (auto rate = search.next(); rate; rate = search.next()) {
    search.note(*rate, *rate <= limit);
    ++result.runs;
  }
  result.found = search.found();
  return result;
}

TEST(RateSearch, FindsTheLimitToAFewPerCent) {
  for (const double limit : {2.0, 40.0, 77.0, 99.0, 1000.0}) {
    const Searched result = search_for(limit);
    ASSERT_TRUE(result.found) << limit;
    EXPECT_LE(*result.found, std::min(limit, 100.0)) << "no rate is above the throughput";
    EXPECT_GE(*result.found, 0.95 * std::min(limit, 100.0)) << limit;
    EXPECT_LE(result.runs, 13) << limit;
  }
}

TEST(RateSearch, EndsIfNoRateHolds) {
  const Searched result = search_for(0);
  EXPECT_FALSE(result.found);
  EXPECT_LE(result.runs, 8);
}

TEST(LatencyCondition, ComparesAStatisticWithATime) {
  const auto condition = cli::parse_condition("p99.9<1.5ms");
  ASSERT_TRUE(condition.ok()) << condition.status().message();
  cli::Distribution latency;
  latency.p99_9 = 1.4;
  latency.max = 5;
  EXPECT_TRUE(condition->holds(latency));
  latency.p99_9 = 1.5;
  EXPECT_FALSE(condition->holds(latency));
  EXPECT_EQ(cli::parse_condition("max<1s")->below_ms, 1000);
  EXPECT_EQ(cli::parse_condition("max<1s")->least_queries, 1u);
  EXPECT_EQ(cli::parse_condition("p99.9<1s")->least_queries, 1000u);
}

TEST(LatencyCondition, RefusesWhatItCannotRead) {
  for (const char* text : {"", "p99", "p98<1ms", "p99<", "p99<fast", "p99>1ms", "<1ms", "p99<=1ms"})
    EXPECT_FALSE(cli::parse_condition(text).ok()) << text;
}

}  // namespace
}  // namespace millrace::test
