#include "cli/bench/percentiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace millrace::test {
namespace {

using cli::percentile;

// 1, 2, ... count.
std::vector<double> numbers(size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Percentile, IsTheSmallestValueThatTheShareDoesNotExceed) {
  EXPECT_EQ(percentile(numbers(100), 0), 1);
  EXPECT_EQ(percentile(numbers(100), 0.5), 50);
  EXPECT_EQ(percentile(numbers(100), 0.9), 90);
  EXPECT_EQ(percentile(numbers(100), 0.99), 99);
  EXPECT_EQ(percentile(numbers(100), 0.999), 100) << "99.9 of 100 values is all of them";
  EXPECT_EQ(percentile(numbers(1000), 0.999), 999);
  EXPECT_EQ(percentile(numbers(5), 0.5), 3);
}

TEST(Percentile, CountsWholeSharesInSpiteOfRounding) {
  for (int percent = 1; percent <= 100; ++percent)
    EXPECT_EQ(percentile(numbers(100), percent / 100.0), percent);
}

TEST(Percentile, OfOneValueIsThatValue) {
  for (const double share : {0.001, 0.5, 0.999, 1.0}) EXPECT_EQ(percentile(numbers(1), share), 1);
}

TEST(Distribution, DoesNotDependOnTheOrderOfTheValues) {
  std::vector<double> values = numbers(1000);
  std::ranges::reverse(values);
  std::swap(values[3], values[700]);
  const cli::Distribution found = cli::distribution_of(values);
  EXPECT_EQ(found.min, 1);
  EXPECT_EQ(found.median, 500);
  EXPECT_EQ(found.p90, 900);
  EXPECT_EQ(found.p99, 990);
  EXPECT_EQ(found.p99_9, 999);
  EXPECT_EQ(found.max, 1000);
  EXPECT_EQ(found.mean, 500.5);
  EXPECT_EQ(found.p95, 950);
  EXPECT_NEAR(found.spread, 288.675, 0.001) << "of 1 to 1000";
}

}  // namespace
}  // namespace millrace::test
