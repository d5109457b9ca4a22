#include "cli/report/charts.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace millrace::test {
namespace {

using cli::histogram_chart;
using cli::LayerRow;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

LayerRow layer(double low, double high, cli::Histogram values) {
  LayerRow row;
  row.low = low;
  row.high = high;
  row.values = std::move(values);
  return row;
}

TEST(Charts, EveryLayerHasABarThatSaysWhatItIs) {
  std::vector<LayerRow> layers(4);
  const double ratios[] = {5, 15, kInfinity, NAN};
  for (size_t i = 0; i < 4; ++i) layers[i].snr_db = ratios[i];
  layers[0].name = "<conv>";
  const std::string chart = cli::snr_chart(layers);
  EXPECT_EQ(count_of(chart, "<rect"), 4u);
  EXPECT_EQ(count_of(chart, "class=\"bar bad\""), 2u) << "the lowest, and what is no number";
  EXPECT_EQ(count_of(chart, "class=\"bar poor\""), 1u);
  EXPECT_THAT(chart, HasSubstr("&lt;conv&gt; (): 5.0 dB"));
  EXPECT_THAT(chart, HasSubstr("exact dB"));
  EXPECT_THAT(chart, Not(HasSubstr("inf")));
  EXPECT_THAT(chart, Not(HasSubstr("nan")));
}

TEST(Charts, AHistogramHasBarsForWhatOccursAndTheEndsOfTheRange) {
  const std::string chart = histogram_chart(layer(-1, 9, {0, 4, {1, 0, 100, 7}}));
  EXPECT_EQ(count_of(chart, "<rect"), 3u);
  EXPECT_THAT(chart, HasSubstr("<title>2 to 3: 100</title>"));
  EXPECT_THAT(chart, Not(HasSubstr("<line"))) << "the range reaches beyond what occurs";
  const std::string cut = histogram_chart(layer(1, 3, {0, 4, {1, 0, 100, 7}}));
  EXPECT_THAT(cut, HasSubstr("x1=\"1.0000\""));
  EXPECT_THAT(cut, HasSubstr("x1=\"3.0000\""));
}

TEST(Charts, WhatCannotBeDrawnIsLeftOut) {
  EXPECT_THAT(histogram_chart(layer(0, 1, {})), IsEmpty());
  EXPECT_THAT(histogram_chart(layer(0, 1, {2, 2, {5}})), IsEmpty());
  EXPECT_THAT(histogram_chart(layer(0, 1, {-kInfinity, 2, {5}})), IsEmpty());
  EXPECT_THAT(histogram_chart(layer(0, 1, {NAN, 2, {5}})), IsEmpty());
  EXPECT_THAT(histogram_chart(layer(0, 1, {-1e308, 1e308, {5}})), IsEmpty());
  EXPECT_THAT(histogram_chart(layer(NAN, kInfinity, {0, 2, {0, 0}})), HasSubstr("<svg"));
}

}  // namespace
}  // namespace millrace::test
