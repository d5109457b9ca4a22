// Overlay draws into the pixels of frames, and nothing beside them.
#include "vart/vart_overlay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kSide = 32;
constexpr OverlayColorData kColor{200, 100, 50, 255};
constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();
const std::shared_ptr<Device> kDevice = Device::get_device_hdl(0, "");

// A frame whose planes lie in one vector, with bytes around it that must not change.
class Picture {
 public:
  explicit Picture(VideoFormat format, size_t bytes_per_pixel = 3)
      : bytes_(kGuard + kSide * kSide * bytes_per_pixel + kGuard, kUntouched), format_(format) {}

  void draw(OverlayShapeInfo shapes) {
    VideoInfo info{};
    info.width = info.height = kSide;
    info.fmt = format_;
    std::vector<uint8_t*> planes = {pixels()};
    if (format_ == VideoFormat::Y_UV8_420) planes.push_back(pixels() + kSide * kSide);
    VideoFrame frame(VideoFrameImplType::NON_CMA, planes, info, kDevice);
    Overlay(OverlayImplType::OPENCV, kDevice).draw_overlay(frame, shapes);
    EXPECT_THAT(std::vector(bytes_.begin(), bytes_.begin() + kGuard), Each(kUntouched));
    EXPECT_THAT(std::vector(bytes_.end() - kGuard, bytes_.end()), Each(kUntouched));
  }

  uint8_t* pixels() { return bytes_.data() + kGuard; }
  // Whether a byte of the three-byte pixel differs from what it was.
  bool is_drawn(int x, int y) {
    const uint8_t* pixel = pixels() + (y * kSide + x) * 3;
    return std::any_of(pixel, pixel + 3, [](uint8_t byte) { return byte != kUntouched; });
  }
  size_t count_drawn() {
    size_t count = 0;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) count += is_drawn(x, y);
    return count;
  }

  static constexpr uint8_t kUntouched = 7;

 private:
  static constexpr size_t kGuard = 4096;
  std::vector<uint8_t> bytes_;
  VideoFormat format_;
};

OverlayRectParams rect(int32_t x, int32_t y, uint32_t width, uint32_t height) {
  OverlayRectParams params{};
  params.points = {x, y};
  params.width = width;
  params.height = height;
  params.thickness = 1;
  params.rect_color = kColor;
  return params;
}

OverlayShapeInfo shapes(const OverlayRectParams& params) {
  OverlayShapeInfo info;
  info.rect_params = {params};
  return info;
}

std::vector<int> pixel(Picture& picture, size_t offset, size_t count) {
  return {picture.pixels() + offset, picture.pixels() + offset + count};
}

TEST(Overlay, ColorsFollowTheOrderOfTheFormat) {
  const auto drawn = [](VideoFormat format, size_t bytes) {
    Picture picture(format, bytes);
    picture.draw(shapes(rect(0, 0, 4, 4)));
    return pixel(picture, 0, bytes);
  };
  EXPECT_THAT(drawn(VideoFormat::BGR, 3), ElementsAre(50, 100, 200));
  EXPECT_THAT(drawn(VideoFormat::RGB, 3), ElementsAre(200, 100, 50));
  EXPECT_THAT(drawn(VideoFormat::BGRx, 4), ElementsAre(50, 100, 200, 0));
  EXPECT_THAT(drawn(VideoFormat::RGBx, 4), ElementsAre(200, 100, 50, 0));
}

TEST(Overlay, Nv12GetsLumaAndChroma) {
  Picture picture(VideoFormat::Y_UV8_420, 3);
  picture.draw(shapes(rect(0, 0, 8, 8)));
  // BT.601, limited range, of red 200, green 100, blue 50.
  EXPECT_THAT(pixel(picture, 0, 1), ElementsAre(123));
  EXPECT_THAT(pixel(picture, kSide * kSide, 2), ElementsAre(91, 175));
  EXPECT_THAT(pixel(picture, 4 * kSide + 4, 1), ElementsAre(Picture::kUntouched));
}

TEST(Overlay, OutlineOfABoxLiesOnItsEdge) {
  Picture picture(VideoFormat::BGR);
  picture.draw(shapes(rect(4, 6, 10, 8)));
  EXPECT_EQ(picture.count_drawn(), 2U * 10 + 2 * 6);
  EXPECT_TRUE(picture.is_drawn(4, 6));
  EXPECT_TRUE(picture.is_drawn(13, 13));
  EXPECT_FALSE(picture.is_drawn(14, 13));
  EXPECT_FALSE(picture.is_drawn(8, 9));
}

TEST(Overlay, BoxesAreClippedToTheFrame) {
  Picture partly(VideoFormat::BGR);
  partly.draw(shapes(rect(-10, -10, 20, 20)));
  EXPECT_EQ(partly.count_drawn(), 10U + 9);
  for (const auto& outside : {rect(-50, 3, 20, 20), rect(3, 100, 20, 20), rect(40, 40, 5, 5),
                              rect(kLowest, kLowest, 5, 5), rect(kHighest, kHighest, ~0U, ~0U)}) {
    Picture picture(VideoFormat::BGR);
    picture.draw(shapes(outside));
    EXPECT_EQ(picture.count_drawn(), 0U) << outside.points.x << ' ' << outside.points.y;
  }
  Picture around(VideoFormat::BGR);
  around.draw(shapes(rect(-5, kLowest, 1000, ~0U)));
  EXPECT_EQ(around.count_drawn(), 0U);
}

TEST(Overlay, BackgroundsAreMixedByAlpha) {
  OverlayRectParams params = rect(0, 0, 16, 16);
  params.thickness = 0;
  params.apply_bg_color = true;
  params.bg_color = {255, 255, 255, 255};
  Picture covered(VideoFormat::BGR);
  covered.draw(shapes(params));
  EXPECT_EQ(covered.count_drawn(), 16U * 16);
  EXPECT_THAT(pixel(covered, 0, 3), ElementsAre(255, 255, 255));
  params.bg_color.alpha = 51;  // a fifth
  Picture mixed(VideoFormat::BGR);
  mixed.draw(shapes(params));
  EXPECT_THAT(pixel(mixed, 0, 1), ElementsAre(57));
  params.bg_color.alpha = 0;
  Picture clear(VideoFormat::BGR);
  clear.draw(shapes(params));
  EXPECT_EQ(clear.count_drawn(), 0U);
}

OverlayTextParams text(const char* shown, int32_t x, int32_t y) {
  OverlayTextParams params{};
  params.points = {x, y};
  params.disp_text = const_cast<char*>(shown);
  params.text_font = {0, 0.5F, kColor};
  return params;
}

TEST(Overlay, TextStandsAboveItsLowerLeftCorner) {
  OverlayShapeInfo info;
  info.text_params = {text("H", 4, 20)};
  Picture picture(VideoFormat::BGR);
  picture.draw(info);
  EXPECT_GT(picture.count_drawn(), 10U);
  for (int x = 0; x < kSide; ++x)
    for (int y = 21; y < kSide; ++y) EXPECT_FALSE(picture.is_drawn(x, y));
}

TEST(Overlay, TextsThatCannotBeShownLeaveTheFrame) {
  const std::string endless(1 << 20, 'x');
  for (const auto& params : {text(nullptr, 4, 20), text("", 4, 20), text("out", kHighest, kHighest),
                             text("out", kLowest, kLowest), text(endless.c_str(), 4, -100)}) {
    OverlayShapeInfo info;
    info.text_params = {params};
    Picture picture(VideoFormat::BGR);
    picture.draw(info);
    EXPECT_EQ(picture.count_drawn(), 0U);
  }
}

TEST(Overlay, LinesArrowsCirclesAndPolygonsAreDrawnAndClipped) {
  OverlayShapeInfo info;
  info.line_params = {{{-1000000, 3}, {kHighest, 3}, 1, kColor}};
  Picture line(VideoFormat::BGR);
  line.draw(info);
  EXPECT_EQ(line.count_drawn(), static_cast<size_t>(kSide));

  info = {};
  info.arrow_params = {{{2, 16}, {28, 16}, 1, 0.25F, kColor}};
  Picture arrow(VideoFormat::BGR);
  arrow.draw(info);
  EXPECT_TRUE(arrow.is_drawn(2, 16));
  EXPECT_TRUE(arrow.is_drawn(25, 13));
  EXPECT_TRUE(arrow.is_drawn(25, 19));

  info = {};
  info.circle_params = {{{16, 16}, 8, 1, kColor}, {{kLowest, 5}, ~0U, ~0U, kColor}};
  Picture circle(VideoFormat::BGR);
  circle.draw(info);
  EXPECT_TRUE(circle.is_drawn(8, 16));
  EXPECT_TRUE(circle.is_drawn(16, 24));
  EXPECT_FALSE(circle.is_drawn(16, 16));

  info = {};
  info.polygn_params = {{{{2, 2}, {20, 2}, {2, 20}}, 1, kColor}, {{}, 1, kColor}};
  Picture polygon(VideoFormat::BGR);
  polygon.draw(info);
  EXPECT_TRUE(polygon.is_drawn(11, 2));
  EXPECT_TRUE(polygon.is_drawn(2, 11));
  EXPECT_TRUE(polygon.is_drawn(11, 11));
  EXPECT_FALSE(polygon.is_drawn(5, 5));
}

TEST(Overlay, WhatCannotBeDrawnIsRefused) {
  EXPECT_THAT(test::reason([] { Picture(VideoFormat::GRAY8).draw({}); }), HasSubstr("format"));
  EXPECT_THAT(test::reason([] { Picture(VideoFormat::RGB_FLOAT, 12).draw({}); }),
              HasSubstr("RGBx"));
  OverlayShapeInfo info;
  info.text_params = {text("x", 4, 20)};
  info.text_params[0].text_font.font_num = 8;
  EXPECT_THAT(test::reason([&] { Picture(VideoFormat::BGR).draw(info); }), HasSubstr("font 8"));
  info.text_params[0].text_font = {0, std::numeric_limits<float>::quiet_NaN(), kColor};
  EXPECT_THAT(test::reason([&] { Picture(VideoFormat::BGR).draw(info); }), HasSubstr("font size"));
  EXPECT_THAT(test::reason([] { Overlay(static_cast<OverlayImplType>(9), kDevice); }),
              HasSubstr("9"));
}

}  // namespace
}  // namespace vart
