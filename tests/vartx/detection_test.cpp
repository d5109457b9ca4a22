// Tests what the detection and segmentation types of PostProcess find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/vartx/postprocess_harness.h"
#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A 64 x 64 input under a grid of 4 x 4 cells; x, y, width, height, objectness, two classes.
constexpr char kGrid[] = R"({"nms-threshold": "0.4", "conf-threshold": "0.5", "model-params": {
    "is-obj-score-included": "true", "grid-shape": [["4", "4"]], "input-layout": ["NHWC"],
    "output-layout": ["NHC"]}})";
const std::vector<TensorInfo> kTensors = {test::input_info({1, 64, 64, 3}),
                                          test::output_info({1, 16, 7})};

// A frame with boxes of one cell's size in the middle of some cells.
struct Found {
  uint32_t cell;
  float class0;
  float class1;
  float width_in_cells = 1;
};
std::vector<std::vector<float>> frame(const std::vector<Found>& boxes) {
  std::vector<float> values(16 * 7);
  for (const Found& box : boxes) {
    const float width = std::log(box.width_in_cells);
    std::ranges::copy(std::vector<float>{0.5F, 0.5F, width, width, 1, box.class0, box.class1},
                      values.begin() + box.cell * 7);
  }
  return {values};
}

TEST(Detection, WithoutAnchorsACellHasOneBox) {
  const auto found = [](const std::string& count) {
    const std::string json = R"({"model-params": {"is-obj-score-included": true,
        "grid-shape": [[4, 4]], "anchors": [], "num-anchorboxes": [)" +
                             count + R"(], "input-layout": "NHWC", "output-layout": "NHC"}})";
    return test::run(PostProcessType::NMS, json, kTensors, frame({{6, 0.25F, 0.75F}})).size();
  };
  EXPECT_EQ(found("0"), 1u);
  EXPECT_EQ(found("1"), 1u);
  EXPECT_THROW(found("3"), std::invalid_argument);
}

TEST(Detection, BoxesArePixelsOfTheModelsInput) {
  const auto results = test::run(PostProcessType::NMS, kGrid, kTensors, frame({{6, 0.25F, 0.75F}}));
  ASSERT_THAT(results, SizeIs(1));
  const DetectionResData& box = test::box(results[0]);
  EXPECT_EQ(box.result_type, InferResultType::DETECTION);
  EXPECT_EQ(box.x, 32);
  EXPECT_EQ(box.y, 16);
  EXPECT_EQ(box.width, 16U);
  EXPECT_EQ(box.height, 16U);
  EXPECT_EQ(box.class_id, 1);
  EXPECT_EQ(box.confidence, 0.75);
}

TEST(Detection, TypesDifferInWhatSuppressesWhat) {
  // Two large boxes side by side overlap by 48 / 80 of their area, and have different classes.
  const auto boxes = frame({{5, 0.9F, 0, 4}, {6, 0, 0.8F, 4}});
  const auto count = [&](PostProcessType type) {
    return test::run(type, kGrid, kTensors, boxes).size();
  };
  EXPECT_EQ(count(PostProcessType::NMS), 1U);
  EXPECT_EQ(count(PostProcessType::CLASSWISE_NMS), 2U);
  EXPECT_EQ(count(PostProcessType::DISTANCE_IOU_NMS), 1U);
  EXPECT_EQ(count(PostProcessType::SOFT_NMS), 1U);  // 0.8 * exp(-0.6^2 / 0.5) is below 0.5
}

TEST(Detection, ObjectsAreCountedByClass) {
  const auto results = test::run(PostProcessType::OBJECT_COUNT, kGrid, kTensors,
                                 frame({{0, 0.9F, 0}, {5, 0, 0.9F}, {10, 0, 0.9F}}));
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_THAT(test::classes(results[0]).index, ElementsAre(1, 0));
  EXPECT_THAT(test::classes(results[0]).confidence, ElementsAre(2, 1));
}

TEST(Detection, NanScoresFindNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(test::run(PostProcessType::NMS, kGrid, kTensors,
                        {std::vector<float>(static_cast<size_t>(16 * 7), nan)}),
              IsEmpty());
}

TEST(Detection, HwViewOfTheInputHasTheSameSize) {
  const std::vector<TensorInfo> tensors = {test::input_info({64, 1, 64, 1, 4}), kTensors[1]};
  const auto results = test::run(PostProcessType::NMS, kGrid, tensors, frame({{6, 0.9F, 0}}));
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(test::box(results[0]).x, 32);
}

TEST(Detection, AnchorsOfCellsAreScaledWhenAsked) {
  const std::vector<TensorInfo> tensors = {test::input_info({1, 3, 64, 64}),
                                           test::output_info({1, 5, 1, 1})};
  const std::vector<std::vector<float>> values = {{0, 0, 0, 0, 0.9F}};
  const std::string start = R"({"model-params": {"grid-shape": [1, 1], "anchors": [[0.5, 0.25]],
      "output-layout": "NCHW", "is-scaling-required": )";
  const auto pixels =
      test::run(PostProcessType::ANCHOR_ADJUSTMENT, start + "false}}", tensors, values);
  const auto cells =
      test::run(PostProcessType::ANCHOR_ADJUSTMENT, start + "\"true\"}}", tensors, values);
  ASSERT_THAT(pixels, SizeIs(1));
  ASSERT_THAT(cells, SizeIs(1));
  EXPECT_EQ(test::box(pixels[0]).width, 0U);
  EXPECT_EQ(test::box(cells[0]).width, 32U);
  EXPECT_EQ(test::box(cells[0]).height, 16U);
  EXPECT_EQ(test::box(cells[0]).x, 16);
}

TEST(Detection, Yolov2TakesLogitsAndAnchorsInCells) {
  const std::vector<TensorInfo> tensors = {test::input_info({1, 32, 32, 3}),
                                           test::output_info({1, 1, 1, 14})};
  const auto results =
      test::run(PostProcessType::YOLOV2,
                R"({"model-params": {"grid-shape": [[1, 1]], "anchors": [0.5, 0.5, 0.75, 0.5],
          "num-anchorboxes": ["2"], "output-layout": ["NHWC"]}})",
                tensors, {{0, 0, 0, 0, -9, 9, 0, 0, 0, 0, 0, 9, 0, 0}});
  EXPECT_THAT(results, IsEmpty());  // one box has no objectness, the other's classes share it
  const auto found =
      test::run(PostProcessType::YOLOV2,
                R"({"model-params": {"grid-shape": [[1, 1]], "anchors": [0.5, 0.5, 0.75, 0.5],
          "num-anchorboxes": ["2"], "output-layout": ["NHWC"]}})",
                tensors, {{0, 0, 0, 0, -9, 9, 0, 0, 0, 0, 0, 9, 9, 0}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(test::box(found[0]).width, 24U);
}

TEST(Detection, SsdAddsOffsetsToPriorBoxes) {
  const std::vector<TensorInfo> tensors = {
      test::input_info({1, 3, 40, 40}), test::output_info({1, 4, 4}), test::output_info({1, 3, 4})};
  std::vector<float> offsets(16), scores = {9, 9, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0};
  offsets[3] = 5;  // the x offset of the last of four cells
  const auto results = test::run(
      PostProcessType::SSDRESNET34,
      R"({"model-params": {"grid-shape": [[2, 2]], "anchors": [[10, 10]], "output-layout": "NCH"}})",
      tensors, {offsets, scores});
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(test::box(results[0]).class_id, 1);
  EXPECT_EQ(test::box(results[0]).x, 30);  // 30 - 5 + 0.1 * 5 * 10
  EXPECT_EQ(test::box(results[0]).y, 25);
}

TEST(Detection, TensorsThatDoNotFitTheGridsAreRefused) {
  const auto refusal = [](PostProcessType type, const std::string& json,
                          std::vector<TensorInfo> infos) {
    return test::reason([&] { test::make_postprocess(type, json).set_config(infos, 1); });
  };
  const auto nms = PostProcessType::NMS;
  EXPECT_THAT(refusal(nms, "", kTensors), HasSubstr("\"grid-shape\" is required"));
  EXPECT_THAT(refusal(nms, R"({"model-params": {"grid-shape": [[4, 4]]}})", kTensors),
              HasSubstr("\"output-layout\" is required"));
  EXPECT_THAT(refusal(nms, kGrid, {kTensors[1]}), HasSubstr("boxes need an input tensor"));
  EXPECT_THAT(refusal(nms, kGrid, {test::input_info({1, 64}), kTensors[1]}),
              HasSubstr("no known width"));
  EXPECT_THAT(refusal(nms, kGrid, {kTensors[0], test::output_info({1, 17, 7})}),
              HasSubstr("needs 16 boxes"));
  EXPECT_THAT(refusal(nms,
                      R"({"model-params": {"grid-shape": [[4, 4]], "anchors": [1, 2],
                          "num-anchorboxes": [3], "output-layout": "NHC"}})",
                      kTensors),
              HasSubstr("do not fit"));
  EXPECT_THAT(refusal(PostProcessType::ANCHOR_ADJUSTMENT, kGrid, kTensors), HasSubstr("anchors"));
  EXPECT_THAT(refusal(PostProcessType::YOLOV2, kGrid, kTensors), HasSubstr("anchors"));
  EXPECT_THAT(refusal(PostProcessType::SSDRESNET34, kGrid, kTensors), HasSubstr("anchors"));
}

TEST(Segmentation, MapsHaveTheBestClassOfEachPixel) {
  const std::vector<TensorInfo> tensors = {test::output_info({1, 1, 2, 3})};
  for (const auto type :
       {PostProcessType::ARGMAXSEG, PostProcessType::SOFTMAXSEG, PostProcessType::SIGMOIDSEG}) {
    const auto results = test::run(type, "", tensors, {{0, 2, 1, 5, 3, 4}});
    ASSERT_THAT(results, SizeIs(1));
    const SegmentationResData& data = test::maps(results[0]);
    EXPECT_EQ(data.numOutputs, 1U);
    EXPECT_THAT(data.width, ElementsAre(2));
    EXPECT_THAT(data.height, ElementsAre(1));
    EXPECT_THAT(data.class_map, ElementsAre(ElementsAre(1, 0)));
  }
}

TEST(Segmentation, SigmoidOfOneChannelIsABinaryMap) {
  const auto results = test::run(PostProcessType::SIGMOIDSEG, "", {test::output_info({1, 2, 2, 1})},
                                 {{-1, 1, 0, -2}});
  EXPECT_THAT(test::maps(results[0]).class_map, ElementsAre(ElementsAre(0, 1, 1, 0)));
}

TEST(Segmentation, PlanarOutputsAndSeveralAreRead) {
  const auto results = test::run(
      PostProcessType::ARGMAXSEG, R"({"model-params": {"output-layout": ["NCHW", "NHWC"]}})",
      {test::output_info({1, 2, 1, 2}), test::output_info({1, 1, 1, 2})}, {{0, 9, 5, 5}, {1, 2}});
  const SegmentationResData& data = test::maps(results[0]);
  EXPECT_EQ(data.numOutputs, 2U);
  EXPECT_THAT(data.class_map, ElementsAre(ElementsAre(1, 0), ElementsAre(1)));
}

TEST(Segmentation, OutputsThatAreNoMapsAreRefused) {
  const auto refusal = [](std::vector<TensorInfo> infos, const std::string& json) {
    return test::reason(
        [&] { test::make_postprocess(PostProcessType::ARGMAXSEG, json).set_config(infos, 1); });
  };
  EXPECT_THAT(refusal({test::output_info({1, 10})}, ""), HasSubstr("[1, 10]"));
  EXPECT_THAT(
      refusal({test::output_info({1, 4, 70000})}, R"({"model-params": {"output-layout": "NHC"}})"),
      HasSubstr("NHC has none"));
  EXPECT_THAT(refusal({test::output_info({1, 1, 1, 70000})}, ""), HasSubstr("16 bits"));
}

}  // namespace
}  // namespace vart
