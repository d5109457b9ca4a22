#include "vision/postprocess/ssd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Two cells side by side, of 10 x 10 pixels each, with one prior box of 8 x 4.
const GridSet kTwoCells{20, 10, {{1, 2, {{8, 4}}}}};

CellLayout list(uint32_t boxes, uint32_t channels) {
  return *cell_layout(std::vector<uint32_t>{1, boxes, channels}, "NHC");
}

std::string refusal(const GridSet& set, const std::vector<CellLayout>& outputs) {
  const auto decoder = SsdDecoder::plan(set, 0.5F, outputs);
  EXPECT_EQ(decoder.status().code(), StatusCode::kInvalidArgument);
  return decoder.status().message();
}

TEST(Ssd, OffsetsMoveAndStretchThePriorBox) {
  const std::vector<float> offsets = {0, 0, 0, 0, 5, -2.5F, std::log(2.0F) / 0.2F, 0};
  const std::vector<float> scores = {9, 0, 0, 0, 9, 0};  // the first box is background
  const std::array<std::span<const float>, 2> outputs = {scores, offsets};
  const auto decoder = SsdDecoder::plan(kTwoCells, 0.5F, {list(2, 3), list(2, 4)});
  ASSERT_TRUE(decoder.ok()) << decoder.status().to_string();
  const auto found = decoder.value().decode(outputs);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].class_id, 1U);
  EXPECT_NEAR(found[0].score, std::exp(9.0) / (std::exp(9.0) + 2), 1e-6);
  EXPECT_FLOAT_EQ(found[0].box.width, 16);
  EXPECT_FLOAT_EQ(found[0].box.height, 4);
  EXPECT_FLOAT_EQ(found[0].box.x, 15 + 0.1F * 5 * 8 - 8);
  EXPECT_FLOAT_EQ(found[0].box.y, 5 - 0.1F * 2.5F * 4 - 2);
}

TEST(Ssd, EveryClassAboveTheThresholdIsFound) {
  const std::vector<float> offsets(8);
  const std::vector<float> scores = {-9, 5, 5, 9, 0, 0};
  const std::array<std::span<const float>, 2> outputs = {offsets, scores};
  const auto decoder = SsdDecoder::plan(kTwoCells, 0.4F, {list(2, 4), list(2, 3)});
  ASSERT_TRUE(decoder.ok()) << decoder.status().to_string();
  EXPECT_THAT(decoder.value().decode(outputs), SizeIs(2));
}

TEST(Ssd, OutputsThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal(kTwoCells, {list(2, 4)}), HasSubstr("not 1"));
  EXPECT_THAT(refusal(kTwoCells, {list(2, 3), list(2, 5)}), HasSubstr("they have 5 and 3"));
  EXPECT_THAT(refusal(kTwoCells, {list(3, 4), list(3, 5)}), HasSubstr("2 boxes"));
  EXPECT_THAT(refusal({20, 10, {{1, 2, {}}}}, {list(2, 4), list(2, 3)}), HasSubstr("anchors"));
}

}  // namespace
}  // namespace millrace::vision
