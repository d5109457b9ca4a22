// The code around a network computes the same results in every floating-point environment of the
// program, and leaves that environment unchanged.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/float_environments.h"
#include "tests/vartx/postprocess_harness.h"
#include "vart/vart_metaconvert.hpp"
#include "vart/vart_overlay.hpp"
#include "vart/vart_preprocess.hpp"

namespace vart {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kWidth = 37, kHeight = 23, kSide = 16;

std::shared_ptr<Device> device() {
  static const std::shared_ptr<Device> opened = Device::get_device_hdl(0, "");
  return opened;
}

// Returns a frame over the bytes.
VideoFrame frame_of(Bytes& bytes, VideoFormat format, int width, int height) {
  VideoInfo info{};
  info.fmt = format;
  info.width = width;
  info.height = height;
  std::vector<uint8_t*> planes = {bytes.data()};
  return VideoFrame(VideoFrameImplType::NON_CMA, planes, info, device());
}

Bytes picture() {
  Bytes bytes(kWidth * kHeight * 3);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 89 % 251);
  return bytes;
}

template <class Value>
void append(Bytes& bytes, const Value& value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

TEST(FloatEnvironment, HasNoEffectOnPreprocessing) {
  millrace::test::expect_same_in_every_float_environment([] {
    std::string json =
        R"({"mean-r": 123.675, "mean-g": 116.28, "mean-b": 103.53, "scale-r": 0.017124753831663668,
            "scale-g": 0.017507002801120447, "scale-b": 0.017429193899782133,
            "colour-format": "RGB", "maintain-aspect-ratio": true, "resizing-type": "LETTERBOX",
            "quant-scale-factor": "32.7"})";
    PreProcess preprocess(PreProcessImplType::IMAGE_PROCESSING_SW, json, device());
    Bytes from = picture(), to(kSide * kSide * 3);
    VideoFrame in = frame_of(from, VideoFormat::RGB, kWidth, kHeight);
    VideoFrame out = frame_of(to, VideoFormat::RGB, kSide, kSide);
    PreProcessOp op{};
    op.in_frame = &in;
    op.out_frame = &out;
    std::vector<PreProcessOp> ops = {op};
    std::vector<PreProcessOpRes> results;
    preprocess.process(ops, results);
    append(to, results.at(0).type_meta.scale_x);
    append(to, results.at(0).type_meta.pad_y);
    return to;
  });
}

TEST(FloatEnvironment, HasNoEffectOnPostprocessing) {
  std::vector<float> scores = {0.3F, 1.7F, -2.1F, 1e-39F, 0.1F};
  millrace::test::expect_same_in_every_float_environment([&] {
    std::string json = R"({"topk": 5})";
    PostProcess function(PostProcessType::SOFTMAX, json, device());
    std::vector<TensorInfo> infos = {test::input_info({1, 3, 8, 8}), test::output_info({1, 5})};
    function.set_config(infos, 1);
    const auto results = function.process({test::address(scores)}, 1);
    Bytes bytes;
    for (const double confidence : test::classes(results.at(0).at(0)).confidence)
      append(bytes, confidence);
    return bytes;
  });
}

TEST(FloatEnvironment, HasNoEffectOnResultsInTheFrame) {
  millrace::test::expect_same_in_every_float_environment([] {
    const auto result = std::make_shared<InferResult>(InferResultType::DETECTION);
    auto& box = static_cast<DetectionResData&>(*result->get_infer_result());
    box.result_type = InferResultType::DETECTION;
    box.x = 10;
    box.y = 21;
    box.width = 31;
    box.height = 43;
    box.confidence = 0.876;
    box.label = "cat";
    InferResScaleInfo scale{};
    scale.scale_x = 0.3F;
    scale.scale_y = 0.7F;
    scale.crop_x = 1.5F;
    result->transform(scale);
    std::string json =
        R"({"font-size": 0.7, "thickness": 2, "label-filter": ["class", "probability"]})";
    MetaConvert convert(InferResultType::DETECTION, json, device());
    const auto shapes = convert.prepare_overlay_meta(result);
    Bytes pixels = picture();
    VideoFrame frame = frame_of(pixels, VideoFormat::RGB, kWidth, kHeight);
    Overlay(OverlayImplType::OPENCV, device()).draw_overlay(frame, *shapes);
    append(pixels, box.x);
    append(pixels, box.width);
    return pixels;
  });
}

}  // namespace
}  // namespace vart
