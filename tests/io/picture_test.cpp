#include "io/pictures/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
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
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(cv::imencode(".png", cv::Mat(70'000, 1, CV_8U, cv::Scalar(1)), bytes));
  const auto line = load(std::string(bytes.begin(), bytes.end()), {.height = 224, .width = 224});
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

// Some libraries know formats by marks after the first bytes, whatever those are.
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

// A picture with smooth parts and edges, which compress differently.
cv::Mat drawn(int type) {
  cv::Mat picture(23, 37, type);
  cv::randu(picture, 0, type == CV_16UC3 ? 65536 : 256);
  cv::blur(picture(cv::Rect(0, 0, 20, 23)), picture(cv::Rect(0, 0, 20, 23)), cv::Size(9, 9));
  return picture;
}

std::string encoded(const char* suffix, const cv::Mat& picture, const std::vector<int>& options) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(suffix, picture, bytes, options)) << suffix;
  return {bytes.begin(), bytes.end()};
}

// Expects the pixels that OpenCV decodes; within one of them for grey, which libraries round in
// different ways.
void expect_same_as_opencv(const std::string& content) {
  const std::vector<uint8_t> bytes(content.begin(), content.end());
  for (const uint32_t channels : {3U, 1U}) {
    const cv::Mat expected =
        cv::imdecode(bytes, channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
    ASSERT_FALSE(expected.empty());
    const auto planes = load(content, {.height = static_cast<uint32_t>(expected.rows),
                                       .width = static_cast<uint32_t>(expected.cols),
                                       .channels = channels,
                                       .order = ChannelOrder::kBgr});
    ASSERT_TRUE(planes.ok()) << planes.status().to_string();
    std::vector<cv::Mat> split;
    cv::split(expected, split);
    for (size_t i = 0; i < planes->size(); ++i) {
      const cv::Mat& plane = split[i / expected.total()];
      ASSERT_NEAR((*planes)[i], plane.data[i % expected.total()], channels == 1 ? 1 : 0) << i;
    }
  }
}

TEST(Picture, HasThePixelsThatOpenCvDecodes) {
  const std::vector<int> progressive{cv::IMWRITE_JPEG_PROGRESSIVE, 1};
  const std::vector<int> lossless{cv::IMWRITE_WEBP_QUALITY, 101};
  for (const auto& [suffix, type, options] :
       {std::tuple(".jpg", CV_8UC3, std::vector<int>()), std::tuple(".jpg", CV_8UC3, progressive),
        std::tuple(".jpg", CV_8U, std::vector<int>()),
        std::tuple(".png", CV_8UC3, std::vector<int>()),
        std::tuple(".png", CV_8UC4, std::vector<int>()),
        std::tuple(".png", CV_16UC3, std::vector<int>()),
        std::tuple(".png", CV_8U, std::vector<int>()),
        std::tuple(".webp", CV_8UC3, std::vector<int>()), std::tuple(".webp", CV_8UC3, lossless),
        std::tuple(".bmp", CV_8UC3, std::vector<int>()),
        std::tuple(".bmp", CV_8U, std::vector<int>()),
        std::tuple(".ppm", CV_8UC3, std::vector<int>()),
        std::tuple(".pgm", CV_8U, std::vector<int>())}) {
    SCOPED_TRACE(testing::Message() << suffix << " of type " << type);
    expect_same_as_opencv(encoded(suffix, drawn(type), options));
  }
}

TEST(Picture, IsTurnedAsItsExifDataSay) {
  const std::string jpeg = encoded(".jpg", drawn(CV_8UC3), {});
  for (char orientation = 0; orientation <= 9; ++orientation) {
    SCOPED_TRACE(int{orientation});
    std::string exif(
        "\xFF\xE1\x00\x22"
        "Exif\0\0"                     // the segment and its length
        "MM\0*\0\0\0\x08\0\x01"        // one entry in the byte order of Motorola
        "\x01\x12\0\x03\0\0\0\x01\0",  // the tag, of one 16-bit integer
        4 + 6 + 10 + 9);
    exif += orientation;
    exif += std::string(6, '\0');
    expect_same_as_opencv(jpeg.substr(0, 2) + exif + jpeg.substr(2));
  }
}

// Four inks, as printers' software writes them: inverted, and converted to YCCK.
TEST(Picture, AJpegOfFourInksBecomesRgb) {
  std::string inks;
  for (int i = 0; i < 16 * 16; ++i) inks += {char(200), char(100), char(50), char(128)};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const tjhandle encoder = tjInitCompress();
  ASSERT_EQ(tjCompress2(encoder, reinterpret_cast<const unsigned char*>(inks.data()), 16, 0, 16,
                        TJPF_CMYK, &bytes, &size, TJSAMP_444, 100, 0),
            0);
  const std::string content(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  const auto planes = load(content, {.height = 1, .width = 1});
  ASSERT_TRUE(planes.ok()) << planes.status().to_string();
  EXPECT_THAT(*planes, ElementsAre(FloatNear(100, 2), FloatNear(50, 2), FloatNear(25, 2)));
}

TEST(Picture, OneWithMorePixelsThanTheLimitIsRefused) {
  for (const char* suffix : {".png", ".jpg", ".webp", ".bmp", ".ppm"}) {
    const std::string content = encoded(suffix, cv::Mat(20, 30, CV_8UC3, cv::Scalar(1, 2, 3)), {});
    PictureOptions options{.height = 1, .width = 1, .max_pixels = 600};
    EXPECT_TRUE(load(content, options).ok()) << suffix;
    options.max_pixels = 599;
    const auto refused = load(content, options);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << suffix;
    EXPECT_THAT(refused.status().message(), HasSubstr("30 x 20")) << suffix;
  }
}

// libjpeg-turbo calls an error a warning if a warning came before it.
TEST(Picture, ACorruptJpegIsRefusedAlsoAfterAWarning) {
  const std::string size_and_stray_byte(
      "\xFF\xD8\xFF\xC0\x00\x0B\x08\x00\x40\x00\x40\x01\x01\x11\x00\x00", 16);
  const std::string scan_without_tables("\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00\xFF\xD9", 12);
  const PictureOptions options{.height = 1, .width = 1};
  EXPECT_EQ(load(size_and_stray_byte + scan_without_tables, options).status().code(),
            StatusCode::kCorruptData);
  EXPECT_EQ(load("\xFF\xD8\xFF\xD9", options).status().code(), StatusCode::kCorruptData)
      << "a JPEG without a picture";
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
