// Tests which part of a picture goes where, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "tests/vision/preprocess/reference.h"

namespace millrace::vision {
namespace {

using tensor::DataType;
using ::testing::HasSubstr;

constexpr TargetFormat kRgbBytes = {Arrangement::kPacked, ChannelOrder::kRgb, DataType::kUint8};

// R of every pixel, a row each.
std::vector<std::vector<double>> reds(const Target& target) {
  std::vector<std::vector<double>> rows(target.height);
  for (uint32_t y = 0; y < target.height; ++y)
    for (uint32_t x = 0; x < target.width; ++x) rows[y].push_back(target.channel(x, y, 0));
  return rows;
}

Result<Geometry> make(const Source& source, Target& target, const PreprocessOptions& options) {
  return preprocess(source.view(), source.whole(), target.view(), target.whole(), options);
}

void expect_geometry(const Result<Geometry>& made, const Geometry& expected) {
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_DOUBLE_EQ(made->scale_x, expected.scale_x);
  EXPECT_DOUBLE_EQ(made->scale_y, expected.scale_y);
  EXPECT_DOUBLE_EQ(made->crop_x, expected.crop_x);
  EXPECT_DOUBLE_EQ(made->crop_y, expected.crop_y);
  EXPECT_DOUBLE_EQ(made->pad_x, expected.pad_x);
  EXPECT_DOUBLE_EQ(made->pad_y, expected.pad_y);
}

using Rows = std::vector<std::vector<double>>;

TEST(PreprocessGeometry, LetterboxKeepsTheWholePictureAtTheTopLeftOrInTheMiddle) {
  const Source wide{SourceFormat::kGrey, 4, 1, {{{10, 20, 30, 40}, {}}}};
  Target target(kRgbBytes, 4, 4);
  expect_geometry(make(wide, target, {.fit = {Fit::kLetterbox}}), {});
  EXPECT_EQ(reds(target), (Rows{{10, 20, 30, 40}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}));
  expect_geometry(make(wide, target, {.fit = {.fit = Fit::kLetterbox, .symmetric_padding = true}}),
                  {.pad_y = 1});  // of three rows of padding one is above
  EXPECT_EQ(reds(target), (Rows{{0, 0, 0, 0}, {10, 20, 30, 40}, {0, 0, 0, 0}, {0, 0, 0, 0}}));

  const Source tall{SourceFormat::kGrey, 1, 4, {{{10, 20, 30, 40}, {}}}};
  expect_geometry(make(tall, target, {.fit = {.fit = Fit::kLetterbox, .symmetric_padding = true}}),
                  {.pad_x = 1});
  EXPECT_EQ(reds(target), (Rows{{0, 10, 0, 0}, {0, 20, 0, 0}, {0, 30, 0, 0}, {0, 40, 0, 0}}));
}

TEST(PreprocessGeometry, PaddingIsBlackBeforeItIsNormalised) {
  const Source source{SourceFormat::kGrey, 2, 1, {{{100, 100}, {}}}};
  Target target({Arrangement::kPadded, ChannelOrder::kBgr, DataType::kInt8}, 2, 2);
  const Normalisation normalisation{.mean = {10, 20, 30}, .scale = {1, 0.5f, 2}};
  ASSERT_TRUE(
      make(source, target, {.fit = {Fit::kLetterbox}, .normalisation = normalisation}).ok());
  const auto pixel = [&](uint32_t x, uint32_t y) {
    return std::vector<double>{target.channel(x, y, 0), target.channel(x, y, 1),
                               target.channel(x, y, 2), target.channel(x, y, 3)};
  };
  EXPECT_EQ(pixel(1, 0), (std::vector<double>{127, 40, 90, 0}));
  EXPECT_EQ(pixel(1, 1), (std::vector<double>{-60, -10, -10, 0}));
}

TEST(PreprocessGeometry, PanscanKeepsTheAspectRatioAndCropsAroundTheCentre) {
  const Source wide{SourceFormat::kGrey, 7, 2, {{{1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7}, {}}}};
  Target target(kRgbBytes, 2, 2);
  expect_geometry(make(wide, target, {.fit = {Fit::kPanscan}}), {.crop_x = 2});
  EXPECT_EQ(reds(target), (Rows{{3, 4}, {3, 4}}));
  Target large(kRgbBytes, 8, 4);
  expect_geometry(make(wide, large, {.fit = {Fit::kPanscan}}),
                  {.scale_x = 2, .scale_y = 2, .crop_x = 1});
}

// The picture is scaled as a whole, as if the rest were thrown away afterwards.
TEST(PreprocessGeometry, CropIsTheCentreOfTheScaledPicture) {
  const Source source = noise(SourceFormat::kBgr, 60, 45);
  for (const auto& [short_side, width, height] :
       {std::tuple(30u, 40u, 30u), std::tuple(100u, 133u, 100u), std::tuple(0u, 27u, 20u)}) {
    Target scaled(kRgbBytes, width, height), target(kRgbBytes, 21, 20);
    ASSERT_TRUE(make(source, scaled, {}).ok());
    expect_geometry(make(source, target, {.fit = {.fit = Fit::kCrop, .short_side = short_side}}),
                    {.scale_x = width / 60.0,
                     .scale_y = height / 45.0,
                     .crop_x = (width - 21) / 2 / (width / 60.0),
                     .crop_y = (height - 20) / 2 / (height / 45.0)});
    for (uint32_t y = 0; y < 20; ++y)
      for (uint32_t x = 0; x < 21; ++x)
        EXPECT_EQ(target.channel(x, y, 1),
                  scaled.channel(x + (width - 21) / 2, y + (height - 20) / 2, 1));
  }
}

// The rest, which has billions of pixels, is not made.
TEST(PreprocessGeometry, CropTakesALongLine) {
  const Source line = noise(SourceFormat::kGrey, 1, 60'000);
  Target target(kRgbBytes, 224, 224);
  ASSERT_TRUE(make(line, target, {.fit = {.fit = Fit::kCrop, .short_side = 256}}).ok());
  EXPECT_EQ(target.channel(0, 0, 0), target.channel(223, 0, 0));
  EXPECT_TRUE(make(line, target, {.fit = {.fit = Fit::kCrop, .short_side = 4'000'000'000}}).ok());
}

TEST(PreprocessGeometry, OnlyTheRegionsAreReadAndWritten) {
  const Source source = noise(SourceFormat::kRgb, 20, 10);
  Target target(kRgbBytes, 12, 9), all(kRgbBytes, 4, 5);
  const auto made = preprocess(source.view(), {3, 2, 8, 5}, target.view(), {5, 1, 4, 5}, {});
  expect_geometry(made, {.scale_x = 0.5, .crop_x = 3, .crop_y = 2, .pad_x = 5, .pad_y = 1});
  const auto expected = resized(source, {3, 2, 8, 5}, 4, 5, Filter::kAuto);
  for (uint32_t y = 0; y < 9; ++y)
    for (uint32_t x = 0; x < 12; ++x)
      for (uint32_t channel = 0; channel < 3; ++channel) {
        const bool inside = x >= 5 && x < 9 && y >= 1 && y < 6;
        if (inside)
          EXPECT_NEAR(target.channel(x, y, channel), expected[(y - 1) * 4 + x - 5][channel], 0.51);
        else
          EXPECT_EQ(target.channel(x, y, channel), Target::kUntouched) << x << "," << y;
      }
}

// The map of Geometry leads from the centre of a white pixel to where it is brightest.
TEST(PreprocessGeometry, TheGeometryLeadsFromTheInputToTheOutput) {
  for (const Fit fit : {Fit::kStretch, Fit::kLetterbox, Fit::kPanscan, Fit::kCrop}) {
    Source source{SourceFormat::kGrey, 30, 20, {std::vector<uint8_t>(600, 0), {}}};
    source.planes[0][9 * 30 + 12] = 255;
    Target target(kRgbBytes, 96, 100);
    const auto made = make(source, target, {.fit = {.fit = fit, .symmetric_padding = true}});
    ASSERT_TRUE(made.ok());
    const double x = (12.5 - made->crop_x) * made->scale_x + made->pad_x;
    const double y = (9.5 - made->crop_y) * made->scale_y + made->pad_y;
    EXPECT_GE(target.channel(static_cast<uint32_t>(x), static_cast<uint32_t>(y), 0), 170);
    EXPECT_EQ(
        target.channel(static_cast<uint32_t>(x + 1.6 * made->scale_x), static_cast<uint32_t>(y), 0),
        0);
  }
}

TEST(PreprocessGeometry, SidesThatRoundToNothingAreOnePixel) {
  const Source line = noise(SourceFormat::kGrey, 1000, 1);
  Target target(kRgbBytes, 10, 10);
  const auto made = make(line, target, {.fit = {Fit::kLetterbox}});
  ASSERT_TRUE(made.ok());
  EXPECT_DOUBLE_EQ(made->scale_y, 1);
}

// Tries one thing that is wrong, and expects the reason and an untouched target.
void expect_refused(const char* reason, const SourcePicture& source, const Region& from,
                    const Region& to, const PreprocessOptions& options = {}) {
  Target target(kRgbBytes, 4, 4);
  const auto made = preprocess(source, from, target.view(), to, options);
  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument) << reason;
  EXPECT_THAT(made.status().message(), HasSubstr(reason));
  EXPECT_THAT(target.planes[0], ::testing::Each(Target::kUntouched));
}

TEST(PreprocessGeometry, WhatCannotBeIsRefusedWithTheReason) {
  const Source good = noise(SourceFormat::kBgr, 8, 8);
  const Region whole = good.whole(), to{0, 0, 4, 4};
  const auto changed = [&](const std::function<void(SourcePicture&)>& change) {
    SourcePicture picture = good.view();
    change(picture);
    return picture;
  };
  expect_refused("is 0x8; sides are from", changed([](auto& p) { p.width = 0; }), whole, to);
  expect_refused("is 8x70000; sides are from", changed([](auto& p) { p.height = 70000; }), whole,
                 to);
  expect_refused("plane 0 of the input picture is null",
                 changed([](auto& p) { p.planes[0] = nullptr; }), whole, to);
  expect_refused("stride of 23 bytes, but 24", changed([](auto& p) { p.strides[0] = 23; }), whole,
                 to);
  expect_refused("sides of NV12 are even", changed([](auto& p) {
                   p.format = SourceFormat::kNv12;
                   p.width = 7;
                 }),
                 whole, to);
  expect_refused("plane 1 of the input picture is null",
                 changed([](auto& p) { p.format = SourceFormat::kNv12; }), whole, to);
  expect_refused("input region 0x8 at 0,0 is empty", good.view(), {0, 0, 0, 8}, to);
  expect_refused("input region 4x4 at 5,0 reaches beyond", good.view(), {5, 0, 4, 4}, to);
  expect_refused("reaches beyond", good.view(), {0, 0xffffffff, 1, 2}, to);
  expect_refused("output region 4x4 at 0,1 reaches beyond", good.view(), whole, {0, 1, 4, 4});
  expect_refused("output region 4x0 at 0,0 is empty", good.view(), whole, {0, 0, 4, 0});
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  expect_refused("mean of a normalisation is not", good.view(), whole, to,
                 {.normalisation = {.mean = {0, kNan, 0}}});
  expect_refused("scale of a normalisation is not", good.view(), whole, to,
                 {.normalisation = {.scale = {1, 1, -1 / 0.0f}}});
  expect_refused("factor of a normalisation is not", good.view(), whole, to,
                 {.normalisation = {.factor = kNan}});
}

TEST(PreprocessGeometry, TargetsThatCannotBeAreRefused) {
  const Source source = noise(SourceFormat::kBgr, 8, 8);
  Target target({Arrangement::kPlanar, ChannelOrder::kRgb, DataType::kInt8}, 4, 4);
  const auto reason = [&](const std::function<void(TargetPicture&)>& change) {
    TargetPicture picture = target.view();
    change(picture);
    return preprocess(source.view(), source.whole(), picture, {0, 0, 4, 4}, {}).status().message();
  };
  EXPECT_THAT(reason([](auto& p) { p.planes[2] = nullptr; }), HasSubstr("plane 2 of the output"));
  EXPECT_THAT(reason([](auto& p) { p.strides[1] = 3; }), HasSubstr("a stride of 3 bytes"));
  EXPECT_THAT(reason([](auto& p) { p.format.type = DataType::kInt32; }), HasSubstr("INT32"));
  EXPECT_THAT(reason([](auto& p) { p.height = 1u << 20; }), HasSubstr("sides are from 1 to 65535"));
}

}  // namespace
}  // namespace millrace::vision
