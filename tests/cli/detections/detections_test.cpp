// Each format in which detectors return boxes gives the same box; other outputs are refused.
#include "cli/detections/detections.h"
#include "cli/detections/key_points.h"

#include <gmock/gmock.h>

#include <cmath>
#include <span>

namespace millrace::test {
namespace {

using cli::DetectorOutput;
using ::testing::HasSubstr;
using vision::Detection;

constexpr cli::InputSize kInput{.width = 64, .height = 32};

DetectorOutput output(const char* name, std::vector<uint32_t> shape, std::vector<float> values,
                      tensor::DataType type = tensor::DataType::kFloat32) {
  return {tensor::make_cpu_desc(name, type, std::move(shape)), std::move(values)};
}

std::vector<Detection> found_in(const std::vector<DetectorOutput>& outputs) {
  const auto found = cli::detections_in(outputs, kInput, 0.5F);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? *found : std::vector<Detection>();
}

// The box from (16, 8) to (48, 24) of class 2, with a score of 0.9.
void expect_the_box(const std::vector<Detection>& found) {
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].score, 0.9F);
  EXPECT_EQ(found[0].class_id, 2u);
  EXPECT_FLOAT_EQ(found[0].box.x, 16);
  EXPECT_FLOAT_EQ(found[0].box.y, 8);
  EXPECT_FLOAT_EQ(found[0].box.width, 32);
  EXPECT_FLOAT_EQ(found[0].box.height, 16);
}

void expect_refused(const std::vector<DetectorOutput>& outputs) {
  const auto found = cli::detections_in(outputs, kInput, 0.5F);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(found.status().message(), HasSubstr("[1,4+C,N] of YOLOv8"));
}

TEST(DetectionFormats, ScoresWithBackgroundAndRelativeCorners) {
  expect_the_box(
      found_in({output("scores", {1, 3, 3}, {0.9F, 0.1F, 0, 0.05F, 0.05F, 0.9F, 1, 0, 0}),
                output("boxes", {1, 3, 4}, {0, 0, 1, 1, .25F, .25F, .75F, .75F, 0, 0, .1F, .1F})}));
}

TEST(DetectionFormats, ScoresWithoutBackgroundMayHaveAnyOrderOfOutputs) {
  expect_the_box(found_in({output("a", {1, 2, 4}, {16, 8, 48, 24, 0, 0, 9, 9}),
                           output("b", {1, 2, 3}, {0, 0.6F, 0.9F, 0.1F, 0, 0})}));
}

// Eight candidates of one person with two points, of which the second one is hidden in the first.
TEST(DetectionFormats, PosesHaveTheirVisiblePoints) {
  std::vector<float> values;
  for (const std::vector<float>& row :
       std::vector<std::vector<float>>{{32, 33, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                       {16, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                       {32, 32, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
                                       {16, 16, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
                                       {0.9F, 0.8F, 0.4F, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {20, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {0.9F, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {30, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {12, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {0.1F, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}})
    values.insert(values.end(), row.begin(), row.end());
  const std::vector<DetectorOutput> outputs = {output("output0", {1, 11, 12}, values)};
  const std::vector<Detection> found = found_in(outputs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].score, 0.9F);
  EXPECT_EQ(found[0].class_id, 0u);
  const auto points = cli::key_points_of(found, outputs, kInput);
  ASSERT_EQ(points.size(), 1u);
  ASSERT_EQ(points[0].size(), 1u);
  EXPECT_EQ(points[0][0].x, 20);
  EXPECT_EQ(points[0][0].y, 10);
}

// Five candidates, of which two overlap, in columns.
TEST(DetectionFormats, ColumnsOfYolov8AreSuppressed) {
  std::vector<float> values;
  for (const std::vector<float>& plane :
       std::vector<std::vector<float>>{{32, 33, 1, 1, 1, 1, 1, 1},
                                       {16, 16, 1, 1, 1, 1, 1, 1},
                                       {32, 32, 5, 5, 5, 5, 5, 5},
                                       {16, 16, 5, 5, 5, 5, 5, 5},
                                       {0, 0, 0, 0, 0, 0, 0, 0},
                                       {0.1F, 0, 0, 0, 0, 0, 0, 0},
                                       {0.9F, 0.8F, 0.4F, 0, 0, 0, 0, 0}})
    values.insert(values.end(), plane.begin(), plane.end());
  expect_the_box(found_in({output("output0", {1, 7, 8}, values)}));
}

TEST(DetectionFormats, RowsOfYolov5HaveAnObjectness) {
  std::vector<float> values(9 * 8);
  const float box[] = {32, 16, 32, 16, 0.9F, 0, 0, 1};
  std::copy(std::begin(box), std::end(box), values.begin() + 8);
  expect_the_box(found_in({output("output", {1, 9, 8}, values)}));
}

TEST(DetectionFormats, RowsAfterNmsHaveTheirColumnsInSeveralOrders) {
  expect_the_box(
      found_in({output("output0", {1, 2, 6}, {16, 8, 48, 24, 0.9F, 2, 0, 0, 0, 0, 0, 0})}));
  expect_the_box(
      found_in({output("detection_out", {1, 1, 1, 7}, {0, 2, 0.9F, 0.25F, 0.25F, 0.75F, 0.75F})}));
  expect_the_box(found_in({output("output", {1, 7}, {0, 16, 8, 48, 24, 2, 0.9F})}));
  expect_the_box(
      found_in({output("dets", {1, 1, 5}, {16, 8, 48, 24, 0.9F}), output("labels", {1, 1}, {2})}));
  EXPECT_TRUE(found_in({output("output", {0, 6}, {})}).empty());
}

TEST(DetectionFormats, ListsAfterNms) {
  const auto labels = output("labels", {1, 2}, {2, 1}, tensor::DataType::kInt64);
  expect_the_box(found_in({output("bboxes", {1, 2, 4}, {.25F, .25F, .75F, .75F, 0, 0, 0, 0}),
                           labels, output("scores", {1, 2}, {0.9F, 0.1F})}));
  expect_the_box(
      found_in({output("num_detections", {1}, {2}),
                output("detection_boxes", {1, 2, 4}, {.25F, .25F, .75F, .75F, 0, 0, 0, 0}),
                output("detection_scores", {1, 2}, {0.9F, 0.1F}),
                output("detection_classes", {1, 2}, {2, 1})}));
}

TEST(DetectionFormats, TensorflowHasTheVerticalCoordinateFirst) {
  const auto found = found_in({output("detection_boxes", {1, 1, 4}, {0, 0.5F, 0.25F, 1}),
                               output("detection_scores", {1, 1}, {0.9F}),
                               output("detection_classes", {1, 1}, {2})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].box.x, 32);
  EXPECT_FLOAT_EQ(found[0].box.height, 8);
}

TEST(DetectionFormats, ScalesOfYunet) {
  std::vector<DetectorOutput> outputs;
  for (const uint32_t stride : {8U, 16U, 32U}) {
    const uint32_t cells = (64 / stride) * (32 / stride);
    std::vector<float> scores(cells), boxes(4 * size_t{cells});
    if (stride == 16) {  // the cell in column 2 and row 1 begins at (32, 16)
      scores[6] = 0.9F;
      boxes[4 * 6 + 2] = std::log(2.0F);
    }
    const std::string suffix = std::to_string(stride);
    outputs.push_back(output(("cls_" + suffix).c_str(), {1, cells, 1}, scores));
    outputs.push_back(output(("obj_" + suffix).c_str(), {1, cells, 1}, scores));
    outputs.push_back(output(("bbox_" + suffix).c_str(), {1, cells, 4}, boxes));
  }
  const auto found = found_in(outputs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].score, 0.9F);
  EXPECT_FLOAT_EQ(found[0].box.x, 16);
  EXPECT_FLOAT_EQ(found[0].box.width, 32);
  EXPECT_FLOAT_EQ(found[0].box.height, 16);
}

TEST(DetectionFormats, RowsOfPalmDetectors) {
  const auto found = found_in({output("batch_nums", {1, 1}, {0}, tensor::DataType::kInt64),
                               output("score_cx_cy_w_wristcenterxy_middlefingerxy", {1, 8},
                                      {0.9F, 0.5F, 0.25F, 0.25F, 0, 0, 0, 0})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].box.x, 24);
  EXPECT_FLOAT_EQ(found[0].box.width, 16);
}

// The upper side of the box is at 0, where rows of SSD have their scores.
TEST(DetectionFormats, RowsOfYolov7MayTouchTheUpperEdge) {
  const auto found = found_in({output("output", {1, 7}, {0, 1, 0, 6, 24, 2, 1})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].class_id, 2u);
  EXPECT_FLOAT_EQ(found[0].score, 1);
  EXPECT_FLOAT_EQ(found[0].box.height, 24);
}

TEST(DetectionFormats, RowsAfterNmsMayAllHaveLowScores) {
  EXPECT_TRUE(found_in({output("output0", {1, 6}, {16, 8, 48, 24, 0.1F, 2})}).empty());
  EXPECT_TRUE(found_in({output("output", {1, 7}, {0, 16, 8, 48, 24, 2, 0.1F})}).empty());
  EXPECT_TRUE(found_in({output("output0", {1, 2, 6}, std::vector<float>(12))}).empty());
  EXPECT_TRUE(found_in({output("output0", {1, 1, 6}, {0, 0, 0, 0, 0, -1})}).empty());
}

TEST(DetectionFormats, AClassifierOfAFewClassesHasNoBoxes) {
  expect_refused({output("scores", {1, 6}, {.9F, .02F, .02F, .02F, .02F, .02F})});
  expect_refused({output("scores", {1, 7}, {.88F, .02F, .02F, .02F, .02F, .02F, .02F})});
  expect_refused(
      {output("scores", {1, 5}, {.9F, .02F, .02F, .03F, .03F}), output("age", {1, 1}, {.3F})});
  expect_refused(
      {output("scores", {1, 5}, {.02F, .02F, .03F, .03F, .9F}), output("age", {1, 1}, {3})});
  for (const size_t classes : {6u, 7u})
    for (size_t sure = 0; sure < classes; ++sure) {
      SCOPED_TRACE(sure);
      std::vector<float> values(classes);
      values[sure] = 1;
      expect_refused({output("scores", {1, static_cast<uint32_t>(classes)}, values)});
    }
}

// The second candidate is wider than any relative box, but has no score.
TEST(DetectionFormats, OnlyBoxesThatCountShowTheUnitOfCoordinates) {
  expect_the_box(found_in({output("a", {1, 2, 4}, {.25F, .25F, .75F, .75F, 0, 0, 9, 9}),
                           output("b", {1, 2, 3}, {0, 0.6F, 0.9F, 0.1F, 0, 0})}));
  expect_the_box(found_in(
      {output("output0", {1, 2, 6}, {.25F, .25F, .75F, .75F, 0.9F, 2, 0, 0, 9, 9, 0.1F, 2})}));
  expect_the_box(found_in({output("boxes", {1, 2, 4}, {.25F, .25F, .75F, .75F, 0, 0, 9, 9}),
                           output("labels", {1, 2}, {2, 1}, tensor::DataType::kInt64),
                           output("scores", {1, 2}, {0.9F, 0.1F})}));
  std::vector<float> values(9 * 8);
  const float box[] = {0.5F, 0.5F, 0.5F, 0.5F, 0.9F, 0, 0, 1, 0.5F, 0.5F, 2.1F};
  std::copy(std::begin(box), std::end(box), values.begin());
  expect_the_box(found_in({output("output", {1, 9, 8}, values)}));
}

TEST(DetectionFormats, ListsAreToldApartByTheirNames) {
  expect_the_box(
      found_in({output("scores", {1, 4}, {0.1F, 0.1F, 0.9F, 0.1F}),
                output("labels", {1, 4}, {0, 0, 2, 0}, tensor::DataType::kInt64),
                output("batch_index", {1, 4}, {0, 0, 0, 0}, tensor::DataType::kInt64),
                output("boxes", {1, 4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 16, 8, 48, 24, 0, 0, 0, 0})}));
}

TEST(DetectionFormats, ListsOfUnclearMeaningAreRefused) {
  const auto list = [](const char* name) {
    return output(name, {1, 2}, {0, 1}, tensor::DataType::kInt64);
  };
  const auto boxes = output("boxes", {1, 2, 4}, {.25F, .25F, .75F, .75F, 0, 0, 0, 0});
  expect_refused({boxes, list("a"), output("scores", {1, 2}, {0.9F, 0.1F}), list("b")});
  expect_refused({boxes, list("labels"), output("a", {1, 2}, {0.9F, 0.1F}),
                  output("b", {1, 2}, {0.9F, 0.1F})});
  // Offsets are no corners.
  expect_refused({output("boxes", {1, 2, 4}, {.25F, .25F, -.75F, .75F, 0, 0, 0, 0}), list("labels"),
                  output("scores", {1, 2}, {0.9F, 0.1F})});
}

// With 8 bits each of many small probabilities may be rounded up.
TEST(DetectionFormats, TheBackgroundIsRecognisedDespiteRounding) {
  expect_the_box(
      found_in({output("scores", {1, 3, 3}, {0.9F, 0.1F, 0, 0.07F, 0.07F, 0.9F, 1, 0, 0}),
                output("boxes", {1, 3, 4}, {0, 0, 1, 1, .25F, .25F, .75F, .75F, 0, 0, .1F, .1F})}));
}

TEST(DetectionFormats, ScoresBeyondOneAreRefusedWhateverTheNames) {
  std::vector<DetectorOutput> outputs;
  for (const uint32_t stride : {8U, 16U, 32U}) {
    const uint32_t cells = (64 / stride) * (32 / stride);
    const std::vector<float> scores(cells, -3);
    const std::string suffix = std::to_string(stride);
    outputs.push_back(output(("cls_" + suffix).c_str(), {1, cells, 1}, scores));
    outputs.push_back(output(("obj_" + suffix).c_str(), {1, cells, 1}, scores));
    outputs.push_back(
        output(("bbox_" + suffix).c_str(), {1, cells, 4}, std::vector<float>(4 * size_t{cells})));
  }
  expect_refused(outputs);
  expect_refused({output("score_cx_cy_w_wristcenterxy_middlefingerxy", {1, 8},
                         {5, 0.5F, 0.25F, 0.25F, 0, 0, 0, 0})});
}

TEST(DetectionFormats, WhatIsNotFiniteIsRefused) {
  for (const float value : {NAN, INFINITY, -INFINITY}) {
    SCOPED_TRACE(value);
    expect_refused({output("output0", {1, 6}, {16, 8, value, 24, 0.9F, 2})});
    expect_refused({output("output0", {1, 6}, {16, 8, 48, 24, value, 2})});
    expect_refused({output("a", {1, 2, 4}, {16, value, 48, 24, 0, 0, 9, 9}),
                    output("b", {1, 2, 3}, {0, 0.6F, 0.9F, 0.1F, 0, 0})});
    std::vector<float> values(9 * 8);
    const float box[] = {value, 16, 32, 16, 0.9F, 0, 0, 1};
    std::copy(std::begin(box), std::end(box), values.begin());
    expect_refused({output("output", {1, 9, 8}, values)});
    expect_refused({output("score_cx_cy_w_wristcenterxy_middlefingerxy", {1, 8},
                           {0.9F, value, 0.25F, 0.25F, 0, 0, 0, 0})});
  }
}

TEST(DetectionFormats, WhatHasNoElementsIsRefused) {
  expect_refused({output("output0", {1, 9, 0}, {})});
  expect_refused({output("output0", {1, 0, 9}, {})});
  expect_refused({output("boxes", {1, 0, 4}, {}), output("scores", {1, 2, 0}, {})});
}

TEST(DetectionFormats, WhatIsNoBoxIsRefused) {
  expect_refused({output("scores", {1, 1000}, std::vector<float>(1000))});
  expect_refused({output("mask", {1, 21, 4, 8}, std::vector<float>(21 * 32))});
  // Logits and offsets from prior boxes have the shapes of scores and corners.
  expect_refused({output("scores", {1, 2, 3}, {7, -3, 2, 0, 0, 0}),
                  output("boxes", {1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1})});
  expect_refused({output("scores", {1, 2, 3}, {0, 0, 1, 0, 0, 1}),
                  output("boxes", {1, 2, 4}, {0.5F, 0, -1, 1, 0, 0, 1, 1})});
  expect_refused({output("output0", {1, 7, 8}, std::vector<float>(56, 5))});
  expect_refused(
      {output("scores", {1, 2, 0}, {}), output("boxes", {1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1})});
  expect_refused({});
}

}  // namespace
}  // namespace millrace::test
