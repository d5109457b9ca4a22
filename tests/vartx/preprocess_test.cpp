#include "vart/vart_preprocess.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace vart {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PreProcessTest : public ::testing::Test {
 protected:
  PreProcess make(std::string json = "",
                  PreProcessImplType type = PreProcessImplType::IMAGE_PROCESSING_SW) {
    return PreProcess(type, json, device_);
  }
  VideoFrame frame(VideoInfo info, size_t bytes) {
    return VideoFrame(VideoFrameImplType::XRT, bytes, 2, info, device_);
  }
  VideoFrame input(VideoFormat format, int32_t width, int32_t height,
                   const std::vector<uint8_t>& bytes) {
    VideoInfo info{};
    make().get_input_vinfo(height, width, format, info);
    VideoFrame made = frame(info, bytes.size());
    std::memcpy(made.map(DataMapFlags::WRITE).planes[0].data, bytes.data(), bytes.size());
    made.unmap();
    return made;
  }
  // Makes an output frame of the size that a program computes.
  VideoFrame output(PreProcess& preprocess) {
    const VideoInfo& info = preprocess.get_output_vinfo();
    size_t bytes = 0;
    for (uint32_t plane = 0; plane < info.n_planes; ++plane)
      bytes += info.stride[plane] * info.elevation[plane];
    return frame(info, bytes);
  }
  static std::vector<int> bytes_of(VideoFrame& frame) {
    const VideoFrameMapInfo& mapped = frame.map(DataMapFlags::READ);
    const auto* data = reinterpret_cast<const int8_t*>(mapped.planes[0].data);
    std::vector<int> bytes(data, data + mapped.size);
    frame.unmap();
    return bytes;
  }
  static std::string reason(const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "taken";
  }

  const std::shared_ptr<Device> device_ = Device::get_device_hdl(0, "");
};

// Passes values on as they are.
PreProcessInfo plain_info(uint32_t width, uint32_t height, VideoFormat format) {
  PreProcessInfo info{};
  info.qt_fctr = info.scale_r = info.scale_g = info.scale_b = 1;
  info.width = width;
  info.height = height;
  info.colour_format = format;
  return info;
}

PreProcessOp op_of(VideoFrame& in, VideoFrame& out, RegionOfInterest in_roi = {},
                   RegionOfInterest out_roi = {}) {
  PreProcessOp op{};
  op.in_roi = in_roi;
  op.out_roi = out_roi;
  op.in_frame = &in;
  op.out_frame = &out;
  return op;
}

TEST_F(PreProcessTest, ABgrPictureBecomesAQuantisedTensor) {
  for (const auto type :
       {PreProcessImplType::IMAGE_PROCESSING_HLS, PreProcessImplType::IMAGE_PROCESSING_SW}) {
    PreProcess preprocess = make("", type);
    PreProcessInfo info = plain_info(2, 1, VideoFormat::RGBx);
    info.mean_r = 10;
    info.mean_g = 20;
    info.mean_b = 30;
    info.scale_r = 0.5f;
    info.scale_b = 0.25f;
    info.qt_fctr = 2;
    preprocess.set_preprocess_info(info);
    VideoFrame in = input(VideoFormat::BGR, 2, 1, {30, 21, 13, 255, 0, 0});
    VideoFrame out = output(preprocess);
    std::vector<PreProcessOp> ops = {op_of(in, out, {0, 0, 1, 2}, {0, 0, 1, 2})};
    preprocess.process(ops);
    EXPECT_THAT(bytes_of(out), ElementsAre(3, 2, 0, 0, -10, -40, 112, 0));
  }
}

// Bytes of the lane without a channel.
size_t padding_bytes(VideoFormat format) {
  switch (format) {
    case VideoFormat::RGBx:
    case VideoFormat::BGRx:
      return 1;
    case VideoFormat::RGBx_BF16:
    case VideoFormat::BGRx_BF16:
    case VideoFormat::RGBx_FP16:
    case VideoFormat::BGRx_FP16:
      return 2;
    default:
      return 0;
  }
}

TEST_F(PreProcessTest, EveryOutputFormatIsTightAndFilledToItsEnd) {
  const std::pair<VideoFormat, size_t> formats[] = {
      {VideoFormat::RGB, 3},         {VideoFormat::BGR, 3},         {VideoFormat::RGBx, 4},
      {VideoFormat::BGRx, 4},        {VideoFormat::RGBP, 3},        {VideoFormat::BGRP, 3},
      {VideoFormat::GRAY8, 1},       {VideoFormat::RGB_BF16, 6},    {VideoFormat::BGR_BF16, 6},
      {VideoFormat::RGBx_BF16, 8},   {VideoFormat::BGRx_BF16, 8},   {VideoFormat::RGBP_BF16, 6},
      {VideoFormat::BGRP_BF16, 6},   {VideoFormat::GRAY_BF16, 2},   {VideoFormat::RGB_FP16, 6},
      {VideoFormat::BGR_FP16, 6},    {VideoFormat::RGBx_FP16, 8},   {VideoFormat::BGRx_FP16, 8},
      {VideoFormat::RGBP_FP16, 6},   {VideoFormat::BGRP_FP16, 6},   {VideoFormat::RGB_FLOAT, 12},
      {VideoFormat::BGR_FLOAT, 12},  {VideoFormat::RGBP_FLOAT, 12}, {VideoFormat::BGRP_FLOAT, 12},
      {VideoFormat::GRAY32_FLOAT, 4}};
  PreProcess preprocess = make();
  // White, so that a byte of every element is not 0.
  VideoFrame in = input(VideoFormat::RGB, 5, 3, std::vector<uint8_t>(45, 255));
  for (const auto& [format, pixel_bytes] : formats) {
    SCOPED_TRACE(static_cast<int>(format));
    PreProcessInfo info = plain_info(7, 5, format);
    preprocess.set_preprocess_info(info);
    const VideoInfo& vinfo = preprocess.get_output_vinfo();
    EXPECT_EQ(vinfo.width, 7);
    EXPECT_EQ(vinfo.height, 5);
    EXPECT_EQ(vinfo.fmt, format);
    VideoFrame out = output(preprocess);
    EXPECT_EQ(bytes_of(out).size(), 35 * pixel_bytes);
    std::vector<PreProcessOp> ops = {op_of(in, out)};
    preprocess.process(ops);
    // The high byte of the last channel; behind it is a lane of padding in some formats.
    const size_t pad = padding_bytes(format);
    EXPECT_GT(bytes_of(out)[35 * pixel_bytes - 1 - pad], 60);
    for (size_t i = 1; i <= pad; ++i) EXPECT_EQ(bytes_of(out)[35 * pixel_bytes - i], 0);
  }
}

TEST_F(PreProcessTest, PlanesOfNv12AndOfAPlanarOutputAreFound) {
  PreProcess preprocess = make(R"({"output-type": "UINT8"})");
  PreProcessInfo info = plain_info(2, 2, VideoFormat::BGRP);
  preprocess.set_preprocess_info(info);
  VideoFrame in = input(VideoFormat::Y_UV8_420, 2, 2, {81, 81, 81, 16, 90, 240});
  VideoFrame out = output(preprocess);
  std::vector<PreProcessOp> ops = {op_of(in, out)};
  preprocess.process(ops);
  // Three red pixels and a dark one: B, then G, then R.
  EXPECT_THAT(bytes_of(out),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -2, static_cast<int8_t>(179)));
}

TEST_F(PreProcessTest, BytesAreInt8UnlessTheConfigurationSaysUint8) {
  VideoFrame in = input(VideoFormat::GRAY8, 1, 1, {200});
  for (const auto& [json, expected] :
       {std::pair("", 127), std::pair(R"({"output-type":"UINT8"})", -56)}) {
    PreProcess preprocess = make(json);
    PreProcessInfo info = plain_info(1, 1, VideoFormat::RGB);
    preprocess.set_preprocess_info(info);
    VideoFrame out = output(preprocess);
    std::vector<PreProcessOp> ops = {op_of(in, out)};
    preprocess.process(ops);
    EXPECT_THAT(bytes_of(out), Each(expected));
  }
}

TEST_F(PreProcessTest, TheConfigurationChoosesTheFilter) {
  VideoFrame in = input(VideoFormat::GRAY8, 4, 1, {0, 0, 0, 100});
  const auto filtered = [&](const char* json) {
    PreProcess preprocess = make(json);
    PreProcessInfo info = plain_info(1, 1, VideoFormat::GRAY8);
    preprocess.set_preprocess_info(info);
    VideoFrame out = output(preprocess);
    std::vector<PreProcessOp> ops = {op_of(in, out)};
    preprocess.process(ops);
    return bytes_of(out).front();
  };
  EXPECT_EQ(filtered(""), 25);
  EXPECT_EQ(filtered(R"({"resize-filter": "AREA"})"), 25);
  EXPECT_EQ(filtered(R"({"resize-filter": "BILINEAR"})"), 0) << "between the second and the third";
}

TEST_F(PreProcessTest, ResultsSayWhichGeometryWasApplied) {
  PreProcess preprocess = make();
  PreProcessInfo info = plain_info(40, 40, VideoFormat::RGBx);
  VideoFrame in = input(VideoFormat::GRAY8, 100, 50, std::vector<uint8_t>(5000, 9));
  const auto meta = [&](PreProcessType type, bool symmetric) {
    info.preprocess_type = type;
    info.symmetric_padding = symmetric;
    preprocess.set_preprocess_info(info);
    VideoFrame out = output(preprocess);
    std::vector<PreProcessOp> ops = {op_of(in, out),
                                     op_of(in, out, {20, 10, 40, 40}, {4, 0, 20, 10})};
    std::vector<PreProcessOpRes> results(7);
    preprocess.process(ops, results);
    EXPECT_EQ(results.size(), 2u);
    std::vector<float> all;
    for (const PreProcessOpRes& result : results) {
      const auto& [scale_x, scale_y, crop_x, crop_y, pad_x, pad_y] = result.type_meta;
      all.insert(all.end(), {scale_x, scale_y, crop_x, crop_y, pad_x, pad_y});
    }
    return all;
  };
  // The second is 40 x 40 at 20,10 into 10 x 20 at 4,0.
  EXPECT_THAT(meta(PreProcessType::DEFAULT, false),
              ElementsAre(0.4f, 0.8f, 0, 0, 0, 0, 0.25f, 0.5f, 20, 10, 4, 0));
  EXPECT_THAT(meta(PreProcessType::LETTERBOX, false),
              ElementsAre(0.4f, 0.4f, 0, 0, 0, 0, 0.25f, 0.25f, 20, 10, 4, 0));
  EXPECT_THAT(meta(PreProcessType::LETTERBOX, true),
              ElementsAre(0.4f, 0.4f, 0, 0, 0, 10, 0.25f, 0.25f, 20, 10, 4, 5));
  EXPECT_THAT(meta(PreProcessType::PANSCAN, false),
              ElementsAre(0.8f, 0.8f, 25, 0, 0, 0, 0.5f, 0.5f, 30, 10, 4, 0));
}

TEST_F(PreProcessTest, TheConfigurationIsWhereTheInfoStarts) {
  const char* quoted = R"({"kernel-name": "image_processing:{image_processing_1}",
    "mean-r": "1.5", "mean-g": "2", "mean-b": 3, "scale-r": "0.5", "scale-g": 4, "scale-b": "5",
    "colour-format": "RGBX_bf16", "maintain-aspect-ratio": "true", "resizing-type": "LETTERBOX",
    "symmetric-padding": "1", "quant-scale-factor": "8", "in-mem-bank": "0", "out-mem-bank": ""})";
  PreProcess preprocess = make(quoted);
  const PreProcessInfo& info = preprocess.get_preprocess_info();
  EXPECT_THAT((std::vector<float>{info.mean_r, info.mean_g, info.mean_b, info.scale_r, info.scale_g,
                                  info.scale_b, info.qt_fctr}),
              ElementsAre(1.5f, 2, 3, 0.5f, 4, 5, 8));
  EXPECT_EQ(info.colour_format, VideoFormat::RGBx_BF16);
  EXPECT_EQ(info.preprocess_type, PreProcessType::LETTERBOX);
  EXPECT_TRUE(info.symmetric_padding);

  PreProcessInfo other = plain_info(3, 4, VideoFormat::RGB);
  preprocess.set_preprocess_info(other);
  EXPECT_EQ(info.mean_r, 0);
  EXPECT_EQ(info.colour_format, VideoFormat::RGB);
  EXPECT_EQ(info.preprocess_type, PreProcessType::DEFAULT);
  EXPECT_EQ(info.qt_fctr, 8) << "a quant-scale-factor of the configuration stays";
}

TEST_F(PreProcessTest, WithoutAConfigurationPicturesPassThrough) {
  for (const char* json : {"", "{}", R"({"resizing-type": "", "colour-format": ""})"}) {
    PreProcess preprocess = make(json);
    const PreProcessInfo& info = preprocess.get_preprocess_info();
    EXPECT_EQ(info.scale_g, 1);
    EXPECT_EQ(info.qt_fctr, 1);
    EXPECT_EQ(info.preprocess_type, PreProcessType::DEFAULT);
    EXPECT_THAT(reason([&] { preprocess.get_output_vinfo(); }), HasSubstr("PreProcess: "));
  }
}

TEST_F(PreProcessTest, AspectRatioIsKeptOnlyWhereTheConfigurationAsksForIt) {
  const auto type = [&](const char* json) {
    return make(json).get_preprocess_info().preprocess_type;
  };
  EXPECT_EQ(type(R"({"resizing-type": "panscan", "maintain-aspect-ratio": "true"})"),
            PreProcessType::PANSCAN);
  EXPECT_EQ(type(R"({"resizing-type": "PANSCAN"})"), PreProcessType::DEFAULT);
  EXPECT_EQ(type(R"({"resizing-type": "whatever", "maintain-aspect-ratio": "false"})"),
            PreProcessType::DEFAULT);
}

TEST_F(PreProcessTest, ConfigurationsThatCannotBeAreRefused) {
  const auto refusal = [&](const char* json) { return reason([&] { make(json); }); };
  EXPECT_THAT(refusal("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(refusal(R"({"mean-g": "much"})"), HasSubstr("\"mean-g\": \"much\""));
  EXPECT_THAT(refusal(R"({"colour-format": "PINK"})"),
              HasSubstr("\"PINK\" is not a supported format"));
  EXPECT_THAT(refusal(R"({"resizing-type": "CROP", "maintain-aspect-ratio": 1})"),
              HasSubstr("none of DEFAULT LETTERBOX PANSCAN"));
  EXPECT_THAT(refusal(R"({"output-type": 8})"), HasSubstr("none of INT8 UINT8"));
  EXPECT_THAT(refusal(R"({"resize-filter": "CUBIC"})"), HasSubstr("none of AUTO BILINEAR AREA"));
  EXPECT_THAT(reason([&] { make("", static_cast<PreProcessImplType>(9)); }), HasSubstr("the type"));
  EXPECT_THAT(reason([] { PreProcess(std::shared_ptr<PreProcessImplBase>()); }), HasSubstr("null"));
}

// The error of one operation is said, and nothing is left behind: the next call works.
TEST_F(PreProcessTest, AFailingOperationLeavesEverythingUsable) {
  PreProcess preprocess = make();
  PreProcessInfo info = plain_info(2, 2, VideoFormat::RGB);
  preprocess.set_preprocess_info(info);
  VideoFrame in = input(VideoFormat::RGB, 2, 2, std::vector<uint8_t>(12, 7));
  VideoFrame first = output(preprocess), second = output(preprocess);
  const auto refusal = [&](const PreProcessOp& wrong) {
    std::vector<PreProcessOp> ops = {op_of(in, first), wrong, op_of(in, second)};
    std::vector<PreProcessOpRes> results;
    const std::string said = reason([&] { preprocess.process(ops, results); });
    EXPECT_EQ(results.at(0).type_meta.scale_x, 1);
    EXPECT_EQ(results.at(1).type_meta.scale_x, 0);
    EXPECT_THAT(bytes_of(first), Each(7));
    EXPECT_THAT(bytes_of(second), Each(0));
    return said;
  };
  PreProcessOp wrong = op_of(in, second);
  wrong.in_frame = nullptr;
  EXPECT_THAT(refusal(wrong), HasSubstr("operation 1: the input frame is null"));
  wrong = op_of(in, second);
  wrong.out_frame = nullptr;
  EXPECT_THAT(refusal(wrong), HasSubstr("operation 1: the output frame is null"));
  EXPECT_THAT(refusal(op_of(in, in)), HasSubstr("input and output frame are the same"));
  EXPECT_THAT(refusal(op_of(in, second, {1, 0, 2, 2})), HasSubstr("input region 2x2 at 1,0"));
  EXPECT_THAT(refusal(op_of(in, second, {}, {0, 0, 3, 2})), HasSubstr("output region 2x3 at 0,0"));
  EXPECT_THAT(refusal(op_of(in, second, {1, 1, 0, 0})), HasSubstr("is empty"));
  VideoFrame planar = input(VideoFormat::RGBP, 2, 2, std::vector<uint8_t>(12));
  EXPECT_THAT(refusal(op_of(planar, second)), HasSubstr("RGBP cannot be read"));
  EXPECT_THAT(refusal(op_of(in, planar)), HasSubstr("format RGBP, but colour_format is RGB"));

  std::vector<PreProcessOp> ops = {op_of(in, first), op_of(in, second)};
  preprocess.process(ops);
  EXPECT_THAT(bytes_of(second), Each(7));
}

TEST_F(PreProcessTest, AnInfoThatCannotBeIsRefusedWhenItIsUsed) {
  PreProcess preprocess = make();
  VideoFrame in = input(VideoFormat::RGB, 2, 2, std::vector<uint8_t>(12, 7));
  VideoFrame nv12 = input(VideoFormat::Y_UV8_420, 2, 2, std::vector<uint8_t>(6));
  const auto refusal = [&](PreProcessInfo info, VideoFrame& out) {
    preprocess.set_preprocess_info(info);
    std::vector<PreProcessOp> ops = {op_of(in, out)};
    return reason([&] { preprocess.process(ops); });
  };
  EXPECT_THAT(refusal(plain_info(2, 2, VideoFormat::Y_UV8_420), nv12),
              HasSubstr("cannot be written"));
  PreProcessInfo info = plain_info(2, 2, VideoFormat::RGB);
  preprocess.set_preprocess_info(info);
  VideoFrame out = output(preprocess);
  info.preprocess_type = static_cast<PreProcessType>(8);
  EXPECT_THAT(refusal(info, out), HasSubstr("8 is not a known preprocess type"));
  info = plain_info(2, 2, VideoFormat::RGB);
  info.mean_b = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(info, out), HasSubstr("not a finite number"));
  VideoInfo vinfo{};
  EXPECT_THAT(reason([&] { preprocess.get_input_vinfo(0, 4, VideoFormat::BGR, vinfo); }),
              HasSubstr("PreProcess: "));
  EXPECT_THAT(reason([&] { preprocess.get_input_vinfo(3, 4, VideoFormat::Y_UV8_420, vinfo); }),
              HasSubstr("multiples"));
}

}  // namespace
}  // namespace vart
