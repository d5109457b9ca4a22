// Tests what the classification types of PostProcess compute, and how classes get their labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"
#include "tests/vartx/postprocess_harness.h"
#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ClassificationResData classify(PostProcessType type, const std::string& json,
                               const std::vector<float>& scores) {
  const auto classes = static_cast<uint32_t>(scores.size());
  const auto results = test::run(type, json, {test::output_info({1, classes})}, {scores});
  EXPECT_THAT(results, SizeIs(1));
  return test::classes(results.at(0));
}

class LabelFile {
 public:
  explicit LabelFile(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
  std::string path() const { return directory_.file("labels.txt"); }
  std::string json() const { return R"({"topk": 9, "label-file-path": ")" + path() + "\"}"; }

 private:
  const millrace::test::TemporaryDirectory directory_;
};

TEST(Classification, SoftmaxGivesProbabilitiesBestFirst) {
  for (const auto type : {PostProcessType::SOFTMAX, PostProcessType::RESNET50}) {
    const auto found = classify(type, R"({"topk": 2})", {1, 3, 2});
    const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
    EXPECT_THAT(found.index, ElementsAre(1, 2));
    EXPECT_THAT(found.confidence, ElementsAre(DoubleNear(std::exp(3.0) / sum, 1e-6),
                                              DoubleNear(std::exp(2.0) / sum, 1e-6)));
  }
}

TEST(Classification, TopKBeyondTheClassesGivesAll) {
  EXPECT_THAT(classify(PostProcessType::TOPK, R"({"topk": 100000})", {1, 2, 2}).index,
              ElementsAre(1, 2, 0));
}

TEST(Classification, NanIsNeverTheBest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(classify(PostProcessType::TOPK, "", {nan, -5, nan}).index, ElementsAre(1));
  EXPECT_THAT(classify(PostProcessType::SOFTMAX, "", {nan, -5, nan}).confidence, ElementsAre(1));
}

TEST(Classification, ArgmaxIsOneClassWhateverTopkSays) {
  EXPECT_THAT(classify(PostProcessType::ARGMAX, R"({"topk": 3})", {1, 7, 3}).index, ElementsAre(1));
}

TEST(Classification, NormalizationStretchesToOne) {
  EXPECT_THAT(classify(PostProcessType::NORMALIZATION, R"({"topk": 3})", {-2, 2, 0}).confidence,
              ElementsAre(1, 0.5, 0));
}

TEST(Classification, ThresholdIsFourUnlessSaid) {
  EXPECT_THAT(classify(PostProcessType::THRESHOLD, R"({"topk": 9})", {3, 4, 5}).index,
              ElementsAre(2, 1));
  EXPECT_THAT(classify(PostProcessType::THRESHOLD,
                       R"({"topk": 9, "function-options": {"threshold": "4.5"}})", {3, 4, 5})
                  .index,
              ElementsAre(2));
}

TEST(Classification, PlattAndBiasCalibrate) {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_THAT(classify(PostProcessType::CALIBRATION_PLATT,
                       R"({"function-options": {"platt-param-a": 2, "platt-param-b": -1}})", {0, 1})
                  .confidence,
              ElementsAre(DoubleNear(logistic(1), 1e-6)));
  EXPECT_THAT(classify(PostProcessType::BIAS_CORRECTION,
                       R"({"function-options": {"bias": [0, 3]}})", {1, 2})
                  .index,
              ElementsAre(0));
  EXPECT_THAT(test::reason([&] {
                classify(PostProcessType::BIAS_CORRECTION,
                         R"({"function-options": {"bias": [0, 3]}})", {1, 2, 3});
              }),
              HasSubstr("3 classes"));
}

TEST(Classification, TemperatureFlattens) {
  const auto found = classify(PostProcessType::CALIBRATION_TEMPERATURE,
                              R"({"function-options": {"temperature-scaling": 4}})", {0, 4});
  EXPECT_THAT(found.confidence, ElementsAre(DoubleNear(1 / (1 + std::exp(-1.0)), 1e-6)));
}

TEST(Classification, OutliersAreTheScoresFarFromTheMean) {
  std::vector<float> scores(50, 1);
  EXPECT_THAT(classify(PostProcessType::OUTLIER_DETECTION, "", scores).index, IsEmpty());
  scores[20] = 10;
  EXPECT_THAT(classify(PostProcessType::OUTLIER_DETECTION, "", scores).index, ElementsAre(20));
}

TEST(Classification, UncertaintyIsTheEntropyWithTheBestClass) {
  const auto found = classify(PostProcessType::UNCERTAINTY_ESTIMATION, "", {2, 2, 2, 2});
  EXPECT_THAT(found.confidence, ElementsAre(DoubleNear(std::log(4.0), 1e-6)));
  EXPECT_THAT(found.index, ElementsAre(0));
}

TEST(Labels, ComeFromTheLineOfTheClass) {
  const LabelFile labels("cat\r\ndog\n\nbird");
  EXPECT_THAT(classify(PostProcessType::LABEL_MAPPING, labels.json(), {4, 3, 2, 1}).label,
              ElementsAre("cat", "dog", "", "bird"));
}

// In the HW view the channels are padded to whole blocks, with zeros.
TEST(Labels, TellClassesFromLanesOfPadding) {
  const auto found = [](const std::vector<uint32_t>& shape, const std::string& json) {
    const std::vector<float> scores = {-3, -2, -1, -4, -5, 0, 0, 0};
    return test::classes(
        test::run(PostProcessType::SOFTMAX, json, {test::output_info(shape)}, {scores}).at(0));
  };
  const LabelFile five("a\nb\nc\nd\ne\n"), four("a\nb\nc\nd\n");
  const auto real = found({1, 2, 1, 1, 4}, five.json());
  EXPECT_THAT(real.label, ElementsAre("c", "b", "a", "d", "e"));
  EXPECT_THAT(real.confidence[0], DoubleNear(0.6364, 1e-4));
  EXPECT_THAT(found({1, 2, 1, 1, 4}, four.json()).index, SizeIs(8)) << "a whole block of padding";
  EXPECT_THAT(found({1, 8}, five.json()).index, SizeIs(8)) << "a shape without padding";
}

TEST(Labels, ClassesBeyondTheFileHaveTheirIndex) {
  const LabelFile labels("cat\n");
  EXPECT_THAT(classify(PostProcessType::TOPK, labels.json(), {1, 2, 3}).label,
              ElementsAre("2", "1", "cat"));
}

TEST(Labels, IndicesBeyondEightBitsAreKept) {
  std::vector<float> scores(1000);
  scores[999] = 1;
  EXPECT_THAT(classify(PostProcessType::TOPK, "", scores).index, ElementsAre(999));
}

TEST(Labels, FilesWithoutLabelsAreRefusedAtConstruction) {
  const LabelFile empty("");
  EXPECT_THAT(test::reason([&] { test::make_postprocess(PostProcessType::TOPK, empty.json()); }),
              HasSubstr("no labels"));
}

}  // namespace
}  // namespace vart
