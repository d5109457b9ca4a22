#include "io/pictures/thumbnail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <string>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using ::testing::HasSubstr;

// The thumbnail of a picture of one colour, decoded again.
cv::Mat thumbnail(int width, int height, uint32_t side) {
  const test::TemporaryDirectory directory;
  std::string ppm = "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < width * height; ++i) ppm += "\x10\x20\x30";
  EXPECT_TRUE(write_file(directory.file("a.ppm"), std::as_bytes(std::span(ppm))).ok());
  const auto png = png_thumbnail(directory.file("a.ppm"), side);
  EXPECT_TRUE(png.ok()) << png.status().to_string();
  const auto* bytes = reinterpret_cast<const uchar*>(png->data());
  return cv::imdecode(std::vector<uchar>(bytes, bytes + png->size()), cv::IMREAD_UNCHANGED);
}

TEST(Thumbnail, KeepsProportionsAndColours) {
  const cv::Mat small = thumbnail(300, 150, 64);
  EXPECT_EQ(small.size(), cv::Size(64, 32));
  EXPECT_EQ(small.at<cv::Vec3b>(16, 32), cv::Vec3b(0x30, 0x20, 0x10));
}

TEST(Thumbnail, SmallAndThinPicturesKeepAllTheyHave) {
  EXPECT_EQ(thumbnail(3, 2, 64).size(), cv::Size(3, 2));
  EXPECT_EQ(thumbnail(1000, 1, 64).size(), cv::Size(64, 1));
}

TEST(Thumbnail, OfAPictureInMemory) {
  const uint8_t grey[] = {7, 7, 7, 7};
  const auto png = png_thumbnail({vision::SourceFormat::kGrey, 2, 2, {grey}, {2}}, 64);
  ASSERT_TRUE(png.ok()) << png.status().to_string();
  const auto* bytes = reinterpret_cast<const uchar*>(png->data());
  const cv::Mat small =
      cv::imdecode(std::vector<uchar>(bytes, bytes + png->size()), cv::IMREAD_UNCHANGED);
  EXPECT_EQ(small.size(), cv::Size(2, 2));
  EXPECT_EQ(small.at<cv::Vec3b>(1, 1), cv::Vec3b(7, 7, 7));
  EXPECT_EQ(png_thumbnail({vision::SourceFormat::kGrey, 2, 2, {grey}, {2}}, 0).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(png_thumbnail({vision::SourceFormat::kGrey, 0, 2, {grey}, {2}}, 64).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Thumbnail, OtherFilesAreRefused) {
  const test::TemporaryDirectory directory;
  const std::string text = "no picture";
  ASSERT_TRUE(write_file(directory.file("a.png"), std::as_bytes(std::span(text))).ok());
  EXPECT_THAT(png_thumbnail(directory.file("a.png"), 64).status().message(), HasSubstr("a.png"));
  EXPECT_EQ(png_thumbnail(directory.file("none.png"), 64).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::io
