#include "quantise/accuracy_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace millrace::quantise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A network whose error is the sum of what each layer adds unless it is kept.
class Layers {
 public:
  explicit Layers(std::vector<double> errors) : errors_(std::move(errors)) {}

  MeasureError measure() {
    return [this](std::span<const uint32_t> kept) -> Result<double> {
      ++measurements;
      double error = 0;
      for (uint32_t layer = 0; layer < errors_.size(); ++layer)
        if (std::ranges::find(kept, layer) == kept.end()) error += errors_[layer];
      return error;
    };
  }

  int measurements = 0;

 private:
  std::vector<double> errors_;
};

TEST(KeepWorst, KeepsNothingWhereTheTargetHoldsAnyway) {
  Layers layers({0.1, 0.2});
  const auto kept = keep_worst(std::vector<uint32_t>{1, 0}, 0.5, layers.measure());
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(kept->layers, IsEmpty());
  EXPECT_TRUE(kept->target_holds);
  EXPECT_EQ(layers.measurements, 1);
}

TEST(KeepWorst, KeepsAsFewOfTheWorstAsReachTheTarget) {
  Layers layers({1, 16, 4, 8, 2});
  const std::vector<uint32_t> ranked = {1, 3, 2, 4, 0};
  for (size_t count = 0; count <= ranked.size(); ++count) {
    const double target = std::accumulate(ranked.begin() + static_cast<ptrdiff_t>(count),
                                          ranked.end(), 0.0, [](double sum, uint32_t layer) {
                                            return sum + std::vector{1, 16, 4, 8, 2}[layer];
                                          });
    const auto kept = keep_worst(ranked, target, layers.measure());
    ASSERT_TRUE(kept.ok());
    EXPECT_TRUE(std::ranges::equal(kept->layers, std::span(ranked).first(count))) << count;
    EXPECT_EQ(kept->error, target);
    EXPECT_TRUE(kept->target_holds);
  }
}

TEST(KeepWorst, MeasuresAFewTimesOnly) {
  Layers layers(std::vector<double>(1000, 1.0));
  std::vector<uint32_t> ranked(1000);
  std::iota(ranked.begin(), ranked.end(), 0U);
  ASSERT_TRUE(keep_worst(ranked, 333, layers.measure()).ok());
  EXPECT_LE(layers.measurements, 12);
}

TEST(KeepWorst, KeepsAllAndSaysSoWhereTheTargetIsOutOfReach) {
  Layers layers({1, 1, 1});
  const auto kept = keep_worst(std::vector<uint32_t>{2, 0}, 0.5, layers.measure());
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(kept->layers, ElementsAre(2, 0));
  EXPECT_EQ(kept->error, 1);
  EXPECT_FALSE(kept->target_holds);
}

TEST(KeepWorst, NoCandidatesIsNoFailure) {
  Layers layers({1});
  const auto kept = keep_worst({}, 0.5, layers.measure());
  ASSERT_TRUE(kept.ok());
  EXPECT_FALSE(kept->target_holds);
}

TEST(KeepWorst, ANanIsBeyondEveryTarget) {
  const auto measure = [](std::span<const uint32_t> kept) -> Result<double> {
    return kept.size() < 2 ? kNan : 0.0;
  };
  const auto kept =
      keep_worst(std::vector<uint32_t>{0, 1, 2}, std::numeric_limits<double>::infinity(), measure);
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(kept->layers, ElementsAre(0, 1));
}

TEST(KeepWorst, WhatIsReturnedWasMeasuredEvenWhereTheErrorRises) {
  // Keeping the second layer alone with the first makes it worse.
  const std::vector<double> by_count = {1, 0.2, 0.9, 0.1};
  const auto measure = [&](std::span<const uint32_t> kept) -> Result<double> {
    return by_count[kept.size()];
  };
  const auto kept = keep_worst(std::vector<uint32_t>{0, 1, 2}, 0.5, measure);
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(kept->target_holds);
  EXPECT_EQ(kept->error, by_count[kept->layers.size()]);
}

TEST(KeepWorst, AFailedMeasurementIsTheResult) {
  int measurements = 0;
  const auto measure = [&](std::span<const uint32_t>) -> Result<double> {
    if (++measurements == 2) return unsupported("no kernel");
    return 1.0;
  };
  const auto kept = keep_worst(std::vector<uint32_t>{0, 1, 2}, 0.5, measure);
  EXPECT_EQ(kept.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(measurements, 2);
}

}  // namespace
}  // namespace millrace::quantise
