#include "vision/postprocess/yolo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A 64 x 32 input under a 2 x 4 grid: strides of 16 pixels both ways.
GridSet one_grid(std::vector<Anchor> anchors = {}) {
  return {64, 32, {{2, 4, std::move(anchors)}}};
}

std::vector<Detection> decode(const YoloOptions& options, const std::vector<uint32_t>& shape,
                              const std::string& layout, const std::vector<float>& values) {
  const auto cells = cell_layout(shape, layout);
  EXPECT_TRUE(cells.ok()) << cells.status().to_string();
  const auto decoder = YoloDecoder::plan(options, {*cells});
  EXPECT_TRUE(decoder.ok()) << decoder.status().to_string();
  if (!decoder.ok()) return {};
  const std::span<const float> output(values);
  return decoder.value().decode({&output, 1});
}

std::string refusal(const YoloOptions& options, const std::vector<CellLayout>& outputs) {
  const auto decoder = YoloDecoder::plan(options, outputs);
  EXPECT_EQ(decoder.status().code(), StatusCode::kInvalidArgument);
  return decoder.status().message();
}

// Eight boxes of which only that of row 1, column 2 has a score.
std::vector<float> listed_boxes(const std::vector<float>& box) {
  std::vector<float> values(8 * box.size());
  std::ranges::copy(box, values.begin() + static_cast<ptrdiff_t>((1 * 4 + 2) * box.size()));
  return values;
}

TEST(Yolo, WithoutAnchorsCellsAndStridesPlaceTheBox) {
  const YoloOptions options{.grid_set = one_grid(), .has_objectness = true};
  // Centre (2.5, 1.25) cells, e^1 by e^0.5 cells, objectness 0.9, classes 0.1 and 0.8.
  const auto found =
      decode(options, {1, 8, 7}, "NHC", listed_boxes({0.5F, 0.25F, 1, 0.5F, 0.9F, 0.1F, 0.8F}));
  ASSERT_THAT(found, SizeIs(1));
  const float width = std::exp(1.0F) * 16, height = std::exp(0.5F) * 16;
  EXPECT_FLOAT_EQ(found[0].box.x, 40 - width / 2);
  EXPECT_FLOAT_EQ(found[0].box.y, 20 - height / 2);
  EXPECT_FLOAT_EQ(found[0].box.width, width);
  EXPECT_FLOAT_EQ(found[0].box.height, height);
  EXPECT_FLOAT_EQ(found[0].score, 0.9F * 0.8F);
  EXPECT_EQ(found[0].class_id, 1U);
}

TEST(Yolo, EveryLayoutGivesTheSameBoxes) {
  const YoloOptions options{.grid_set = one_grid(), .least_score = 0};
  const auto value = [](uint32_t cell, uint32_t channel) {
    return std::sin(static_cast<float>(cell * 6 + channel));
  };
  std::vector<float> cells_first, channels_first;
  for (uint32_t cell = 0; cell < 8; ++cell)
    for (uint32_t channel = 0; channel < 6; ++channel) cells_first.push_back(value(cell, channel));
  for (uint32_t channel = 0; channel < 6; ++channel)
    for (uint32_t cell = 0; cell < 8; ++cell) channels_first.push_back(value(cell, channel));
  const auto expected = decode(options, {1, 8, 6}, "NHC", cells_first);
  ASSERT_FALSE(expected.empty());
  for (const auto& found : {decode(options, {1, 2, 4, 6}, "NHWC", cells_first),
                            decode(options, {1, 6, 2, 4}, "NCHW", channels_first),
                            decode(options, {1, 6, 8}, "NCH", channels_first)}) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].box.x, expected[i].box.x);
      EXPECT_EQ(found[i].box.height, expected[i].box.height);
      EXPECT_EQ(found[i].score, expected[i].score);
    }
  }
}

TEST(Yolo, AnchorsGiveTheSizeAndSigmoidThePlace) {
  const YoloOptions options{.grid_set = one_grid({{10, 20}, {30, 40}}), .least_score = 0.5F};
  // Channels: x, y, width, height and one class of the first anchor, then of the second.
  std::vector<float> values(8 * 10);
  float* box = &values[5 * 10 + 5];  // row 1, column 1, second anchor
  box[2] = std::log(2.0F);
  box[4] = 0.75F;
  const auto found = decode(options, {1, 2, 4, 10}, "NHWC", values);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FLOAT_EQ(found[0].box.width, 60);
  EXPECT_FLOAT_EQ(found[0].box.height, 40);
  EXPECT_FLOAT_EQ(found[0].box.x, 1.5F * 16 - 30);
  EXPECT_FLOAT_EQ(found[0].box.y, 1.5F * 16 - 20);
  EXPECT_FLOAT_EQ(found[0].score, 0.75F);
}

TEST(Yolo, ListedBoxesComeGridByGridAndAnchorByAnchor) {
  const YoloOptions options{
      .grid_set = {64, 64, {{2, 2, {{8, 8}, {4, 4}}}, {1, 1, {{50, 50}, {60, 60}}}}}};
  std::vector<float> values(10 * 5);
  values[4 * 5 + 4] = 0.9F;  // the first cell of the first grid's second anchor
  values[9 * 5 + 4] = 0.8F;  // the second grid's second anchor
  const auto found = decode(options, {1, 10, 5}, "NHC", values);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_FLOAT_EQ(found[0].box.width, 4);
  EXPECT_FLOAT_EQ(found[0].box.x, 0.5F * 32 - 2);
  EXPECT_FLOAT_EQ(found[1].box.width, 60);
}

TEST(Yolo, LogitsBecomeScoresAsAsked) {
  YoloOptions options{
      .grid_set = one_grid(), .has_objectness = true, .sigmoid_objectness = true, .least_score = 0};
  options.class_scores = ClassScores::kSigmoid;
  const auto boxes = listed_boxes({0, 0, 0, 0, 2, 1, -1});
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_NEAR(decode(options, {1, 8, 7}, "NHC", boxes)[6].score, logistic(2) * logistic(1), 1e-6);
  options.class_scores = ClassScores::kSoftmax;
  EXPECT_NEAR(decode(options, {1, 8, 7}, "NHC", boxes)[6].score, logistic(2) * logistic(2), 1e-6);
}

TEST(Yolo, NanAndOverflowGiveNoBox) {
  const YoloOptions options{.grid_set = one_grid(), .least_score = 0.1F};
  EXPECT_THAT(decode(options, {1, 8, 5}, "NHC", listed_boxes({0, 0, 0, 0, kNan})), IsEmpty());
  EXPECT_THAT(decode(options, {1, 8, 5}, "NHC", listed_boxes({kNan, 0, 0, 0, 1})), IsEmpty());
  EXPECT_THAT(decode(options, {1, 8, 5}, "NHC", listed_boxes({0, 0, 1000, 0, 1})), IsEmpty());
}

TEST(Yolo, GridsThatDoNotFitTheOutputsAreRefused) {
  const YoloOptions options{.grid_set = one_grid()};
  const auto list = [](uint32_t boxes, uint32_t channels) {
    return *cell_layout(std::vector<uint32_t>{1, boxes, channels}, "NHC");
  };
  const CellLayout map = *cell_layout(std::vector<uint32_t>{1, 4, 2, 6}, "NHWC");
  EXPECT_THAT(refusal(options, {list(9, 6)}), HasSubstr("needs 8 boxes"));
  EXPECT_THAT(refusal(options, {list(8, 4)}), HasSubstr("too few"));
  EXPECT_THAT(refusal(options, {map}), HasSubstr("2 x 4 cells, but its output 4 x 2"));
  EXPECT_THAT(refusal(options, {}), HasSubstr("no output"));
  EXPECT_THAT(refusal(options, {list(8, 6), list(8, 6)}), HasSubstr("1 grids and 2 outputs"));
  EXPECT_THAT(refusal({.grid_set = {64, 32, {}}}, {map}), HasSubstr("no grid"));
  EXPECT_THAT(refusal({.grid_set = {64, 0, {{2, 4, {}}}}}, {map}), HasSubstr("input is 0"));
  EXPECT_THAT(refusal({.grid_set = one_grid({{-1, 1}})}, {map}), HasSubstr("anchor -1 x 1"));
  EXPECT_THAT(refusal({.grid_set = {64, 32, {{1U << 20, 1U << 20, {}}}}}, {map}),
              HasSubstr("more than"));
}

}  // namespace
}  // namespace millrace::vision
