// The filters and the colours beside those of OpenCV, which rounds weights and pixels on the way.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/vision/preprocess/reference.h"

namespace millrace::vision {
namespace {

using tensor::DataType;

constexpr TargetFormat kBgrFloats = {Arrangement::kPacked, ChannelOrder::kBgr, DataType::kFloat32};

cv::Mat as_matrix(Source& source) {
  return cv::Mat(static_cast<int>(source.height), static_cast<int>(source.width), CV_8UC3,
                 source.planes[0].data());
}

double largest_difference(const Target& ours, const cv::Mat& theirs) {
  double largest = 0;
  for (int y = 0; y < theirs.rows; ++y)
    for (int x = 0; x < theirs.cols; ++x)
      for (int channel = 0; channel < 3; ++channel)
        largest = std::max(
            largest, std::abs(ours.channel(x, y, channel) - theirs.at<cv::Vec3b>(y, x)[channel]));
  return largest;
}

TEST(PreprocessBesideOpenCv, ResizingIsTheSameWithinOneStep) {
  Source source = noise(SourceFormat::kBgr, 320, 180);
  for (const auto& [width, height] : {std::pair(224, 224), std::pair(64, 64), std::pair(500, 300)})
    for (const auto& [filter, theirs] : {std::pair(Filter::kBilinear, cv::INTER_LINEAR),
                                         std::pair(Filter::kArea, cv::INTER_AREA)}) {
      // If one axis grows, OpenCV uses another area filter for both.
      if (filter == Filter::kArea && (width > 320 || height > 180)) continue;
      SCOPED_TRACE(testing::Message() << width << "x" << height << " filter " << theirs);
      Target target(kBgrFloats, width, height);
      ASSERT_TRUE(preprocess(source.view(), source.whole(), target.view(), target.whole(),
                             {.filter = filter})
                      .ok());
      cv::Mat expected;
      cv::resize(as_matrix(source), expected, cv::Size(width, height), 0, 0, theirs);
      EXPECT_LE(largest_difference(target, expected), 1.0);
    }
}

TEST(PreprocessBesideOpenCv, Nv12IsTheSameWithinOneStep) {
  Source source = noise(SourceFormat::kNv12, 32, 32);
  for (auto& plane : source.planes)  // OpenCV treats Y below 16 as 16
    for (uint8_t& byte : plane) byte = static_cast<uint8_t>(16 + byte % 220);
  const cv::Mat luma(32, 32, CV_8UC1, source.planes[0].data());
  const cv::Mat chroma(16, 16, CV_8UC2, source.planes[1].data());
  cv::Mat expected;
  cv::cvtColorTwoPlane(luma, chroma, expected, cv::COLOR_YUV2BGR_NV12);
  Target target(kBgrFloats, 32, 32);
  ASSERT_TRUE(preprocess(source.view(), source.whole(), target.view(), target.whole(), {}).ok());
  EXPECT_LE(largest_difference(target, expected), 1.0);
}

}  // namespace
}  // namespace millrace::vision
