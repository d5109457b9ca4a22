#include "quantise/calibrate/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "quantise/rewrite/encodings.h"
#include "small_network.h"

namespace millrace::quantise {
namespace {

ValueStatistics seen(const std::vector<float>& elements) {
  ValueStatistics statistics({static_cast<int64_t>(elements.size())}, 1);
  EXPECT_TRUE(statistics.add(elements));
  return statistics;
}

TEST(Histogram, KeepsAllCountsWhileItsRangeGrows) {
  Histogram histogram;
  const std::vector<float> small = {0.5F, -0.5F, 0.25F}, large = {100.0F, -3.0F};
  histogram.add(small, 0.5F);
  histogram.add(large, 100.0F);
  EXPECT_EQ(histogram.limit(), 128);
  EXPECT_EQ(histogram.total(), 5U);
  uint64_t near_minus_three = 0, all = 0;
  for (size_t bin = 0; bin < Histogram::kBins; ++bin) {
    all += histogram.counts()[bin];
    if (std::abs(histogram.centre(bin) + 3) <= histogram.bin_width())
      near_minus_three += histogram.counts()[bin];
  }
  EXPECT_EQ(all, 5U);
  EXPECT_EQ(near_minus_three, 1U);
}

TEST(Histogram, CountsNumbersThatAreNextToZero) {
  Histogram histogram;
  histogram.add(std::vector{0.0F, 1e-40F, -1e-40F, 1e-38F}, 1e-38F);
  EXPECT_EQ(histogram.counts()[Histogram::kZeroBin], 3U);
  EXPECT_EQ(histogram.counts()[Histogram::kZeroBin - 1], 1U);
}

TEST(ValueStatistics, RefusesWhatIsNotFinite) {
  ValueStatistics statistics({2}, 1);
  EXPECT_FALSE(statistics.add(std::vector{1.0F, std::nanf("")}));
  EXPECT_FALSE(statistics.add(std::vector{1.0F, std::numeric_limits<float>::infinity()}));
}

TEST(ValueStatistics, KeepsChannelsApart) {
  ValueStatistics statistics({1, 2, 2}, 1);
  ASSERT_TRUE(statistics.add(std::vector{1.0F, 3.0F, -4.0F, -6.0F}));
  ASSERT_EQ(statistics.channels().size(), 2U);
  EXPECT_EQ(statistics.channels()[0].mean(), 2);
  EXPECT_EQ(statistics.channels()[1].mean(), -5);
  EXPECT_EQ(statistics.channels()[1].low, -6);
}

TEST(Range, HoldsZeroAndAllThatWasSeenByMinMax) {
  EXPECT_EQ(choose_range(seen({2, 5}), RangeMethod::kMinMax), (Range{0, 5}));
  EXPECT_EQ(choose_range(seen({-2, 5}), RangeMethod::kMinMax), (Range{-2, 5}));
}

TEST(Range, OneOutlierDoesNotDecideByTheOtherMethods) {
  std::vector<float> elements = random_floats(100'000, 7);
  elements[17] = 1000;
  for (const RangeMethod method :
       {RangeMethod::kPercentile, RangeMethod::kMse, RangeMethod::kEntropy}) {
    const Range range = choose_range(seen(elements), method);
    EXPECT_LT(range.high, 950) << static_cast<int>(method);
    EXPECT_GT(range.high, 1.5F) << static_cast<int>(method);
    EXPECT_LT(range.low, -1.5F) << static_cast<int>(method);
  }
}

TEST(Range, IsEmptyWhereNothingButZerosWasSeen) {
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kMse, RangeMethod::kEntropy})
    EXPECT_EQ(choose_range(seen({0, 0, 0}), method), Range());
}

TEST(Encoding, FollowsTheShapeOfTheRange) {
  EXPECT_EQ(encoding_of({0, 255}), (Encoding{tensor::DataType::kUint8, {{1}, {0}}}));
  EXPECT_EQ(encoding_of({-127, 100}), (Encoding{tensor::DataType::kInt8, {{1}, {0}}}));
  EXPECT_EQ(encoding_of({-55, 200}), (Encoding{tensor::DataType::kUint8, {{1}, {55}}}));
}

TEST(Encoding, OfTheBoardIsInt8WithAPowerOfTwo) {
  const auto int8 = [](float scale) { return Encoding{tensor::DataType::kInt8, {{scale}, {0}}}; };
  EXPECT_EQ(board_encoding_of({0, 255}), int8(2)) << "the last step saturates";
  EXPECT_EQ(board_encoding_of({0, 257}), int8(4));
  EXPECT_EQ(board_encoding_of({-2.1F, 2.6F}), int8(0.03125F)) << "a picture with ImageNet's mean";
  EXPECT_EQ(board_encoding_of({-32, 5}), int8(0.25F));
  EXPECT_GT(board_encoding_of({}).quantisation.scales[0], 0);
}

TEST(Encoding, OfNothingButZerosIsUsable) {
  EXPECT_GT(encoding_of({}).quantisation.scales[0], 0);
}

}  // namespace
}  // namespace millrace::quantise
