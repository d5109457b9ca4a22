// PostProcess on what real networks gave for photos; skipped where these are not beside the
// project.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/test_models.h"
#include "tests/vartx/postprocess_harness.h"

namespace vart {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

template <class Element>
std::vector<Element> read_golden(const std::string& name) {
  const auto path = millrace::test::test_model("golden/" + name);
  if (!path) return {};
  std::ifstream file(*path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<Element> values(bytes.size() / sizeof(Element));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Element));
  return values;
}

TEST(PostProcessGolden, PhotoOfAKittenIsATabby) {
  const auto logits = read_golden<float>("mobilenetv2_qdq-kitten_224.output.bin");
  const auto labels = millrace::test::test_model("labels/imagenet_synset.txt");
  if (logits.empty() || !labels) GTEST_SKIP() << "no test models beside the project";
  const auto results =
      test::run(PostProcessType::SOFTMAX,
                R"({"topk": "5", "label-file-path": ")" + *labels + R"(", "threshold": "0.2"})",
                {test::output_info({1, 1000})}, {logits});
  const ClassificationResData& found = test::classes(results.at(0));
  EXPECT_THAT(found.index, ElementsAre(281, 285, 282, 283, 457));
  EXPECT_EQ(found.label[0], "n02123045 tabby, tabby cat");
  EXPECT_GT(found.confidence[0], found.confidence[1]);
}

TEST(PostProcessGolden, HalfPrecisionProbabilitiesKeepTheirOrder) {
  const auto bits = read_golden<uint16_t>("squeezenet_fp16-kitten_224.softmaxout_1.bin");
  if (bits.empty()) GTEST_SKIP() << "no test models beside the project";
  std::vector<TensorInfo> infos = {test::output_info({1, 1000, 1, 1}, TensorDataType::FP16)};
  PostProcess function = test::make_postprocess(PostProcessType::TOPK, R"({"topk": 5})");
  function.set_config(infos, 1);
  const auto results = function.process(std::vector<int8_t*>{test::address(bits)}, 1);
  const ClassificationResData& found = test::classes(results.at(0).at(0));
  EXPECT_THAT(found.index, ElementsAre(281, 285, 282, 283, 287));
  EXPECT_FLOAT_EQ(static_cast<float>(found.confidence[0]), 0.9384765625F);
}

// YuNet has the maps of its strides apart; one list of boxes, as YOLOX has, is made of them.
std::vector<float> yunet_boxes() {
  std::vector<float> boxes;
  for (const std::string stride : {"8", "16", "32"}) {
    const auto part = [&](const std::string& name) {
      return read_golden<float>("yunet_n_320-astronaut." + name + "_" + stride + ".bin");
    };
    const auto place = part("bbox"), objectness = part("obj"), face = part("cls");
    for (size_t i = 0; i < face.size(); ++i) {
      boxes.insert(boxes.end(), place.begin() + 4 * i, place.begin() + 4 * i + 4);
      boxes.insert(boxes.end(), {objectness[i], face[i]});
    }
  }
  return boxes;
}

TEST(PostProcessGolden, FaceOfTheAstronautIsFoundOnce) {
  const auto boxes = yunet_boxes();
  if (boxes.empty()) GTEST_SKIP() << "no test models beside the project";
  const auto results =
      test::run(PostProcessType::CLASSWISE_NMS,
                R"({"conf-threshold": 0.5, "nms-threshold": 0.3, "model-params": {
          "is-obj-score-included": "true", "grid-shape": [[40, 40], [20, 20], [10, 10]],
          "input-layout": ["NCHW"], "output-layout": ["NHC"]}})",
                {test::input_info({1, 3, 320, 320}), test::output_info({1, 2100, 6})}, {boxes});
  ASSERT_THAT(results, SizeIs(1));
  const DetectionResData& face = test::box(results[0]);
  EXPECT_NEAR(face.x, 112.342, 0.5);
  EXPECT_NEAR(face.y, 36.942, 0.5);
  EXPECT_NEAR(face.width, 56.543, 1);
  EXPECT_NEAR(face.height, 73.686, 1);
  // The network's own score is the root of the product.
  EXPECT_NEAR(std::sqrt(face.confidence), 0.93763, 1e-4);
}

}  // namespace
}  // namespace vart
