// Real detectors on photographs, through the faces: what they find is where the README of the
// models says. Skipped where the models are not beside the project.
//
// PreProcess and Pillow, by which the numbers of that README were made, resize a little
// differently, and BF16 has 8 bits, so places are compared within some pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/e2e/vart_chain.h"
#include "tests/support/test_models.h"
#include "vart/vart_postprocess.hpp"

namespace millrace::test {
namespace {

using testing::SizeIs;
using vart::TensorType;

// The precision, and the view of the input: BF16 without a copy, and both with tensors that the
// runner converts or reads in place.
struct Mode {
  const char* name;
  graph::Precision precision;
  TensorType view;
};

class Detectors : public testing::TestWithParam<Mode> {
 protected:
  // The network's outputs for the photograph; without the files they are empty, and the test skips.
  VartChain::Outputs outputs_of(const std::string& model, const std::string& photo,
                                const VartChain::Pictures& pictures) {
    const auto onnx = test_model("models/" + model);
    const auto file = test_model("images/" + photo);
    if (!onnx || !file) return {};
    VartChain chain(*onnx, GetParam().precision, GetParam().view, pictures);
    VartChain::Outputs outputs = chain.run(*file);
    scale_info_ = chain.scale_info();
    return outputs;
  }

  vart::InferResScaleInfo scale_info_{};
};

// The keys of PostProcess describe boxes by the cells of a grid. UltraFace gives corners, as shares
// of the picture, so the best one is picked here.
TEST_P(Detectors, UltrafaceFindsTheFaceOfTheAstronaut) {
  const auto outputs =
      outputs_of("ultraface_rfb320.onnx", "astronaut.png", {.mean = 127, .scale = 1.0F / 128});
  if (outputs.empty()) GTEST_SKIP() << "no test models beside the project";
  const std::vector<float>& scores = outputs.at("scores");  // background, face
  size_t best = 0;
  for (size_t i = 0; i < scores.size() / 2; ++i)
    if (scores[2 * i + 1] > scores[2 * best + 1]) best = i;
  EXPECT_GT(scores[2 * best + 1], 0.99);
  const std::array<float, 4> expected = {0.351F, 0.120F, 0.523F, 0.340F};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(outputs.at("boxes")[4 * best + i], expected[i], 0.02) << "side " << i;
}

// Converts to one list of boxes for PostProcess: x, y, width, height, objectness, score.
std::vector<float> yunet_boxes(const VartChain::Outputs& outputs) {
  std::vector<float> boxes;
  for (const std::string stride : {"8", "16", "32"}) {
    const std::vector<float>&place = outputs.at("bbox_" + stride),
          &objectness = outputs.at("obj_" + stride), &face = outputs.at("cls_" + stride);
    for (size_t i = 0; i < face.size(); ++i) {
      boxes.insert(boxes.end(), place.begin() + static_cast<ptrdiff_t>(4 * i),
                   place.begin() + static_cast<ptrdiff_t>(4 * i + 4));
      boxes.insert(boxes.end(), {objectness[i], face[i]});
    }
  }
  return boxes;
}

TEST_P(Detectors, YunetFindsTheFaceOfTheAstronaut) {
  const auto outputs = outputs_of("yunet_n_320_320.onnx", "astronaut.png", {.is_bgr = true});
  if (outputs.empty()) GTEST_SKIP() << "no test models beside the project";
  std::vector<float> boxes = yunet_boxes(outputs);
  std::string json = R"({"conf-threshold": 0.5, "nms-threshold": 0.3, "model-params": {
      "is-obj-score-included": true, "grid-shape": [[40, 40], [20, 20], [10, 10]],
      "input-layout": ["NCHW"], "output-layout": ["NHC"]}})";
  vart::PostProcess postprocess(vart::PostProcessType::NMS, json, nullptr);
  vart::TensorInfo input, output;
  input.direction = vart::TensorDataDirection::INPUT;
  input.shape = {1, 3, 320, 320};
  output.shape = {1, 2100, 6};
  output.data_type = vart::TensorDataType::FLOAT32;
  output.size = static_cast<uint32_t>(boxes.size() * sizeof(float));
  std::vector<vart::TensorInfo> infos = {input, output};
  postprocess.set_config(infos, 1);
  const auto results =
      postprocess.process(std::vector<int8_t*>{reinterpret_cast<int8_t*>(boxes.data())}, 1);
  ASSERT_THAT(results.at(0), SizeIs(1));
  vart::InferResult& found = *results[0][0];
  const auto& face = static_cast<vart::DetectionResData&>(*found.get_infer_result());
  EXPECT_NEAR(face.x, 112.3, 3);
  EXPECT_NEAR(face.y, 36.9, 3);
  EXPECT_NEAR(face.width, 56.5, 3);
  EXPECT_NEAR(face.height, 73.7, 3);
  EXPECT_NEAR(std::sqrt(face.confidence), 0.938, 0.02) << "the root is the network's own score";

  found.transform(scale_info_);  // from 320 x 320 to the photograph's 512 x 512
  EXPECT_NEAR(face.x, 112.3 * 1.6, 5);
  EXPECT_NEAR(face.y, 36.9 * 1.6, 5);
  EXPECT_NEAR(face.height, 73.7 * 1.6, 5);
}

// FastestDet mixes objectness and class score by powers of its own, for which there is no key.
TEST_P(Detectors, FastestdetFindsTheDog) {
  const auto outputs =
      outputs_of("fastestdet.onnx", "golden_retriever.jpg", {.is_bgr = true, .scale = 1.0F / 255});
  if (outputs.empty()) GTEST_SKIP() << "no test models beside the project";
  constexpr size_t kSide = 22, kCells = kSide * kSide, kFirstClass = 5, kClasses = 80, kDog = 16;
  const std::vector<float>& values = outputs.at("758");  // objectness, box, classes by cell
  ASSERT_THAT(values, SizeIs((kFirstClass + kClasses) * kCells));
  float best_score = 0;
  size_t best_class = 0, best_cell = 0;
  for (size_t cell = 0; cell < kCells; ++cell)
    for (size_t i = 0; i < kClasses; ++i) {
      const float score =
          std::pow(values[cell], 0.6F) * std::pow(values[(kFirstClass + i) * kCells + cell], 0.4F);
      if (score <= best_score) continue;
      best_score = score;
      best_class = i;
      best_cell = cell;
    }
  EXPECT_EQ(best_class, kDog);
  EXPECT_NEAR(best_score, 0.929, 0.05);
  // The best cell is in the middle of the dog, where neighbouring cells are nearly as good.
  EXPECT_NEAR(static_cast<double>(best_cell / kSide), 11, 1);
  EXPECT_NEAR(static_cast<double>(best_cell % kSide), 9, 1);
}

struct Photo {
  const char* file;
  ptrdiff_t answer;
};
constexpr Photo kPhotos[] = {{"kitten_224.png", 281}, {"goldfish.jpg", 1}, {"coffee.png", 967}};

// The input of the model is UINT8 with zero point 114.
TEST(QuantisedClassifier, GivesTheSameLabelsToAProgramThatPassesAScaleOnly) {
  const auto onnx = test_model("models/mobilenetv2-12-qdq.onnx");
  if (!onnx) GTEST_SKIP() << "no test models beside the project";
  for (const TensorType view : {TensorType::HW, TensorType::CPU}) {
    VartChain chain(*onnx, graph::Precision::kFp32, view, {.mean = 116, .scale = 1 / 57.5F});
    for (const auto& [file, answer] : kPhotos) {
      const auto photo = test_model(std::string("images/") + file);
      if (!photo) GTEST_SKIP() << "no test images beside the project";
      const std::vector<float> scores = chain.run(*photo).begin()->second;
      EXPECT_EQ(std::ranges::max_element(scores) - scores.begin(), answer) << file;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, Detectors,
    testing::Values(Mode{"Bf16ZeroCopy", graph::Precision::kBf16, TensorType::HW},
                    Mode{"Bf16Converted", graph::Precision::kBf16, TensorType::CPU},
                    Mode{"Fp32InPlace", graph::Precision::kFp32, TensorType::CPU}),
    [](const auto& mode) { return std::string(mode.param.name); });

}  // namespace
}  // namespace millrace::test
