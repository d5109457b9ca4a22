#include "io/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vision::ChannelOrder;
using vision::Fit;

// A binary PPM is the one picture format that a test can write by hand. `rgb` has width * height
// pixels of three bytes.
std::string ppm(int width, int height, const std::string& rgb) {
  return "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n" + rgb;
}

Result<std::vector<float>> load(const std::string& content, const PictureOptions& options) {
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(write_file(directory.file("a.ppm"), std::as_bytes(std::span(content))).ok());
  return load_picture(directory.file("a.ppm"), options);
}

const std::string kTwoPixels = ppm(2, 1, {1, 2, 3, 4, 5, 6});

TEST(Picture, PlanesComeInTheOrderAskedFor) {
  const auto rgb = load(kTwoPixels, {.height = 1, .width = 2});
  ASSERT_TRUE(rgb.ok()) << rgb.status().to_string();
  EXPECT_THAT(*rgb, ElementsAre(1, 4, 2, 5, 3, 6));
  const auto bgr = load(kTwoPixels, {.height = 1, .width = 2, .order = ChannelOrder::kBgr});
  ASSERT_TRUE(bgr.ok());
  EXPECT_THAT(*bgr, ElementsAre(3, 6, 2, 5, 1, 4));
}

TEST(Picture, MeanAndScaleFollowTheOutputChannels) {
  const auto planes = load(kTwoPixels, {.height = 1,
                                        .width = 2,
                                        .order = ChannelOrder::kBgr,
                                        .mean = {3, 0, 1},
                                        .scale = {1, 10, 2}});
  ASSERT_TRUE(planes.ok());
  EXPECT_THAT(*planes, ElementsAre(0, 3, 20, 50, 0, 6));
}

TEST(Picture, CropKeepsTheCentreAndLetterboxTheWhole) {
  std::string row;  // 4 x 1 grey pixels
  for (const char grey : {10, 20, 30, 40}) row += std::string(3, grey);
  const PictureOptions crop{.height = 1, .width = 2, .channels = 1, .fit = {Fit::kCrop}};
  const auto centre = load(ppm(4, 1, row), crop);
  ASSERT_TRUE(centre.ok());
  EXPECT_THAT(*centre, ElementsAre(20, 30));

  const PictureOptions letterbox{.height = 4,
                                 .width = 4,
                                 .channels = 1,
                                 .fit = {.fit = Fit::kLetterbox, .symmetric_padding = true}};
  const auto whole = load(ppm(4, 1, row), letterbox);
  ASSERT_TRUE(whole.ok());
  EXPECT_THAT(*whole, ElementsAre(0, 0, 0, 0, 10, 20, 30, 40, 0, 0, 0, 0, 0, 0, 0, 0));
}

// A line that is grown to the width of the target would take gigabytes.
TEST(Picture, ALongLineIsCroppedWithoutBeingGrown) {
  const auto line = load(ppm(1, 60'000, std::string(180'000, 'a')),
                         {.height = 224, .width = 224, .fit = {Fit::kCrop}});
  ASSERT_TRUE(line.ok()) << line.status().to_string();
  EXPECT_THAT(*line, Each('a'));
}

TEST(Picture, OneThatIsTooLongIsRefused) {
  const auto line = load(ppm(1, 70'000, std::string(210'000, 'a')), {.height = 224, .width = 224});
  EXPECT_EQ(line.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(line.status().message(), HasSubstr("sides are from 1 to 65535"));
}

// Within the rounding of OpenCV, which resizes to bytes.
TEST(Picture, IsResizedAsImageLibrariesDo) {
  cv::Mat picture(30, 47, CV_8UC3);
  cv::randu(picture, 0, 256);
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(cv::imencode(".ppm", picture, bytes));
  for (const auto& [width, height] : {std::pair(20, 13), std::pair(90, 61), std::pair(47, 30)}) {
    const auto planes =
        load(std::string(bytes.begin(), bytes.end()),
             {.height = static_cast<uint32_t>(height), .width = static_cast<uint32_t>(width)});
    ASSERT_TRUE(planes.ok());
    cv::Mat expected;
    const int filter = width < picture.cols ? cv::INTER_AREA : cv::INTER_LINEAR;
    cv::resize(picture, expected, cv::Size(width, height), 0, 0, filter);
    for (int i = 0; i < width * height; ++i)
      ASSERT_NEAR((*planes)[static_cast<size_t>(i)],
                  expected.at<cv::Vec3b>(i / width, i % width)[2], 1.01)
          << i;
  }
}

TEST(Picture, WhatIsNoPictureIsRefused) {
  const PictureOptions options{.height = 1, .width = 1};
  EXPECT_EQ(load("not a picture", options).status().code(), StatusCode::kCorruptData);
  EXPECT_EQ(load("", options).status().code(), StatusCode::kCorruptData);
  EXPECT_EQ(load_picture("/nonexistent.png", options).status().code(), StatusCode::kNotFound);
}

// OpenCV could decode such files, but they are not among the formats that the reader takes.
TEST(Picture, OtherFormatsAreRefused) {
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(cv::imencode(".tiff", cv::Mat(2, 2, CV_8U, cv::Scalar(128)), bytes));
  const auto tiff = load(std::string(bytes.begin(), bytes.end()), {.height = 2, .width = 2});
  EXPECT_EQ(tiff.status().code(), StatusCode::kCorruptData);
  for (const char* format : {".png", ".jpg", ".webp", ".bmp", ".ppm"}) {
    ASSERT_TRUE(cv::imencode(format, cv::Mat(2, 2, CV_8UC3, cv::Scalar(128)), bytes)) << format;
    const auto picture = load(std::string(bytes.begin(), bytes.end()), {.height = 2, .width = 2});
    EXPECT_TRUE(picture.ok()) << format << ": " << picture.status().to_string();
  }
}

// OpenCV knows some formats by marks behind the first bytes, whatever those are, and aborts when
// such a file is broken.
TEST(Picture, ABrokenPictureIsNotReadAsAnotherFormat) {
  const auto with_mark = [](std::string begin, size_t at, const std::string& mark) {
    begin.resize(at);
    return begin + mark + std::string("\x60\x82", 2);
  };
  const std::string webp("RIFF\x4E\0\0\0WEBPVP8 \x42\0\0\0", 20);
  for (const std::string& begin : {webp, std::string("P6x"), std::string("P6")}) {
    for (const auto& [at, mark] :
         {std::pair(size_t{128}, "DICM"), std::pair(size_t{140}, "DTED")}) {
      const auto planes = load(with_mark(begin, at, mark), {.height = 1, .width = 1});
      EXPECT_EQ(planes.status().code(), StatusCode::kCorruptData) << begin << " and " << mark;
    }
  }
}

// A grey JPEG; the second has a segment in front that holds an end mark, as a thumbnail does.
std::string jpeg(bool with_thumbnail) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(".jpg", cv::Mat(16, 16, CV_8U, cv::Scalar(128)), bytes));
  std::string content(bytes.begin(), bytes.end());
  if (with_thumbnail) content.insert(2, std::string("\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9", 8));
  return content;
}

TEST(Picture, AJpegThatStopsBeforeItsEndIsRefused) {
  const PictureOptions options{.height = 1, .width = 1};
  for (const bool with_thumbnail : {false, true}) {
    const std::string whole = jpeg(with_thumbnail);
    EXPECT_TRUE(load(whole, options).ok());
    EXPECT_TRUE(load(whole + "something behind it", options).ok());
    for (const size_t missing : {size_t{1}, size_t{2}, size_t{8}, whole.size() / 2})
      EXPECT_EQ(load(whole.substr(0, whole.size() - missing), options).status().code(),
                StatusCode::kCorruptData)
          << missing << " bytes are missing";
  }
}

}  // namespace
}  // namespace millrace::io
