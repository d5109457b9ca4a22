// Tests what is stored for a picture: filters, colours, normalisation, rounding, formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>

#include "tensor/half.h"
#include "tests/tensor/targets.h"
#include "tests/vision/preprocess/reference.h"

namespace millrace::vision {
namespace {

using tensor::DataType;
using tensor::for_each_target;

const Normalisation kImageNet = {.mean = {123.675f, 116.28f, 103.53f},
                                 .scale = {1 / 58.4f, 1 / 57.1f, 1 / 57.4f}};
constexpr TargetFormat kRgbFloats = {Arrangement::kPacked, ChannelOrder::kRgb, DataType::kFloat32};

void make(const Source& source, Target& target, const PreprocessOptions& options) {
  const auto made =
      preprocess(source.view(), source.whole(), target.view(), target.whole(), options);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
}

// Weights of 14 bits, which may be half a unit off, for values up to 255.
constexpr double kWeightError = 255.0 / (1 << 15) + 2e-4;

void expect_near_reference(const Source& source, uint32_t width, uint32_t height, Filter filter,
                           double error = kWeightError) {
  Target target(kRgbFloats, width, height);
  make(source, target, {.filter = filter});
  const auto expected = resized(source, source.whole(), width, height, filter);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      for (uint32_t channel = 0; channel < 3; ++channel)
        ASSERT_NEAR(target.channel(x, y, channel), expected[y * width + x][channel], error)
            << x << "," << y << " channel " << channel;
}

TEST(Preprocess, EveryFilterIsWhatItSaysForEverySource) {
  for_each_target([] {
    for (const SourceFormat format : kSourceFormats)
      for (const Filter filter : {Filter::kAuto, Filter::kBilinear, Filter::kArea}) {
        SCOPED_TRACE(testing::Message() << "source format " << static_cast<int>(format)
                                        << " filter " << static_cast<int>(filter));
        const Source source = noise(format, 46, 22);
        expect_near_reference(source, 19, 9, filter);   // shrinks by more than 2
        expect_near_reference(source, 37, 50, filter);  // shrinks a little, and grows
        expect_near_reference(source, 46, 5, filter);   // one axis only
        expect_near_reference(source, 9, 22, filter);
      }
  });
}

TEST(Preprocess, ExtremeSizesWork) {
  const std::pair<uint32_t, uint32_t> sizes[] = {{1, 1}, {1, 33}, {33, 1}, {2, 2}, {5, 3}};
  for (const auto& [width, height] : sizes)
    for (const auto& [to_width, to_height] : sizes)
      for (const SourceFormat format : {SourceFormat::kBgr, SourceFormat::kRgbx})
        expect_near_reference(noise(format, width, height), to_width, to_height, Filter::kAuto);
  expect_near_reference(noise(SourceFormat::kBgr, kMaxSide, 1), 1, 1, Filter::kArea, 0.01);
  expect_near_reference(noise(SourceFormat::kNv12, 2, 2), 3, 1, Filter::kBilinear);
}

TEST(Preprocess, ThePictureItselfComesBackWhereNothingIsToBeDone) {
  const Source source = noise(SourceFormat::kRgb, 21, 7);
  Target target({Arrangement::kPacked, ChannelOrder::kRgb, DataType::kUint8}, 21, 7);
  make(source, target, {});
  for (uint32_t y = 0; y < 7; ++y)
    EXPECT_TRUE(std::equal(source.planes[0].begin() + y * 63,
                           source.planes[0].begin() + y * 63 + 63,
                           target.planes[0].begin() + y * target.stride));
}

// The number that each type stores for a value in single precision.
double stored(double value, DataType type) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case DataType::kInt8:
      return std::clamp(std::nearbyint(value), -128.0, 127.0);
    case DataType::kUint8:
      return std::clamp(std::nearbyint(value), 0.0, 255.0);
    case DataType::kBf16:
      return tensor::bf16_to_float(tensor::float_to_bf16(single));
    case DataType::kFp16:
      return tensor::fp16_to_float(tensor::float_to_fp16(single));
    default:
      return value;
  }
}

// The value in single precision is in the packed target of floats; all others follow from it.
void expect_format(const Source& source, const Target& floats, const TargetFormat& format,
                   const PreprocessOptions& options) {
  Target target(format, floats.width, floats.height);
  make(source, target, options);
  for (uint32_t y = 0; y < floats.height; ++y)
    for (uint32_t x = 0; x < floats.width; ++x) {
      for (uint32_t channel = 0; channel < 3; ++channel) {
        const uint32_t rgb = format.order == ChannelOrder::kRgb ? channel : 2 - channel;
        ASSERT_EQ(target.channel(x, y, channel), stored(floats.channel(x, y, rgb), format.type))
            << x << "," << y << " channel " << channel;
      }
      if (format.arrangement == Arrangement::kPadded) {
        const double pad = target.channel(x, y, 3);
        ASSERT_TRUE(pad == 0 && !std::signbit(pad)) << x << "," << y;
      }
    }
}

TEST(Preprocess, EveryPairOfFormatsHoldsTheSameValues) {
  for_each_target([] {
    for (const SourceFormat source_format : kSourceFormats) {
      const Source source = noise(source_format, 46, 12);
      const PreprocessOptions options{
          .normalisation = {kImageNet.mean, kImageNet.scale, -62.5f}};  // some saturate
      Target floats(kRgbFloats, 35, 9);
      make(source, floats, options);
      for (const auto arrangement :
           {Arrangement::kPacked, Arrangement::kPadded, Arrangement::kPlanar})
        for (const auto order : {ChannelOrder::kRgb, ChannelOrder::kBgr})
          for (const DataType type : kTargetTypes) {
            SCOPED_TRACE(testing::Message()
                         << "source format " << static_cast<int>(source_format) << " arrangement "
                         << static_cast<int>(arrangement) << " order " << static_cast<int>(order)
                         << " type " << to_string(type));
            expect_format(source, floats, {arrangement, order, type}, options);
          }
    }
  });
}

TEST(Preprocess, GreyIsTheLumaNormalisedWithTheValuesOfRed) {
  for_each_target([] {
    for (const SourceFormat format : kSourceFormats) {
      const Source source = noise(format, 18, 6);
      Target target({Arrangement::kGrey, ChannelOrder::kRgb, DataType::kFloat32}, 18, 6);
      make(source, target, {.normalisation = kImageNet});
      for (uint32_t y = 0; y < 6; ++y)
        for (uint32_t x = 0; x < 18; ++x) {
          const Rgb pixel = rgb_at(source, x, y);
          const double luma = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
          ASSERT_NEAR(target.element(0, y, x), (luma - 123.675) / 58.4, 1e-5);
        }
    }
  });
}

TEST(Preprocess, NormalisationIsThatOfTheFormula) {
  const Source source = noise(SourceFormat::kBgr, 16, 4);
  Target target(kRgbFloats, 16, 4);
  Normalisation normalisation = kImageNet;
  normalisation.factor = 32;
  make(source, target, {.normalisation = normalisation});
  for (uint32_t x = 0; x < 16; ++x) {
    const Rgb expected = normalised(rgb_at(source, x, 3), normalisation);
    for (uint32_t channel = 0; channel < 3; ++channel)
      EXPECT_NEAR(target.channel(x, 3, channel), expected[channel], 1e-4);
  }
}

TEST(Preprocess, IntegersAreRoundedHalfToEvenAndSaturate) {
  const Source grey{SourceFormat::kGrey, 8, 1, {{{0, 1, 2, 3, 5, 7, 253, 255}, {}}}};
  const auto row = [&](DataType type, float scale) {
    Target target({Arrangement::kGrey, ChannelOrder::kRgb, type}, 8, 1);
    make(grey, target, {.normalisation = {.scale = {scale, scale, scale}}});
    std::vector<double> values;
    for (uint32_t x = 0; x < 8; ++x) values.push_back(target.element(0, 0, x));
    return values;
  };
  using ::testing::ElementsAre;
  for_each_target([&] {
    EXPECT_THAT(row(DataType::kInt8, 0.5f), ElementsAre(0, 0, 1, 2, 2, 4, 126, 127));
    EXPECT_THAT(row(DataType::kInt8, -0.5f), ElementsAre(0, 0, -1, -2, -2, -4, -126, -128));
    EXPECT_THAT(row(DataType::kUint8, 0.5f), ElementsAre(0, 0, 1, 2, 2, 4, 126, 128));
    EXPECT_THAT(row(DataType::kUint8, -1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(row(DataType::kUint8, 3e38f), ElementsAre(0, 255, 255, 255, 255, 255, 255, 255));
  });
}

// Four lanes of bytes have a kernel of their own; a row may be shorter than its vectors.
TEST(Preprocess, RowsOfAnyLengthInFourLanesAreRoundedAndSaturateAndEndWhereTheyShould) {
  const auto expect_row = [](uint32_t width, DataType type, float scale) {
    const Source source = noise(SourceFormat::kGrey, width, 1);
    Target target({Arrangement::kPadded, ChannelOrder::kRgb, type}, width + 1, 1);
    const Region region{0, 0, width, 1};
    const std::vector<uint8_t> before = target.planes[0];
    ASSERT_TRUE(preprocess(source.view(), source.whole(), target.view(), region,
                           {.normalisation = {.scale = {scale, scale, scale}}})
                    .ok());
    for (uint32_t x = 0; x < width; ++x) {
      const double value = source.planes[0][x] * double{scale};
      for (uint32_t channel = 0; channel < 3; ++channel)
        ASSERT_EQ(target.channel(x, 0, channel), stored(value, type)) << x << " of " << width;
      ASSERT_EQ(target.channel(x, 0, 3), 0);
    }
    ASSERT_TRUE(std::equal(before.begin() + 4 * width, before.begin() + 4 * width + 4,
                           target.planes[0].begin() + 4 * width));
  };
  for_each_target([&] {
    for (uint32_t width = 1; width <= 21; ++width)
      for (const DataType type : {DataType::kInt8, DataType::kUint8})
        for (const float scale : {0.5f, -0.5f, 1.5f, -3e38f}) expect_row(width, type, scale);
  });
}

TEST(Preprocess, ANumberThatIsNoneIsStoredAsZeroInFourLanes) {
  const Source black{SourceFormat::kGrey, 5, 1, {{{0, 0, 0, 0, 0}, {}}}};
  for_each_target([&] {
    for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
      Target target({Arrangement::kPadded, ChannelOrder::kRgb, type}, 5, 1);
      // (0 - mean) * scale is infinite, and the product with the factor is no number.
      make(black, target, {.normalisation = {{3e38f, 3e38f, 3e38f}, {3e38f, 3e38f, 3e38f}, 0.0f}});
      for (uint32_t x = 0; x < 5; ++x) ASSERT_EQ(target.channel(x, 0, 1), 0);
    }
  });
}

// Two by two pixels worked out by hand: black, white, and red and blue of NV12.
TEST(Preprocess, Nv12IsLimitedRangeBt601) {
  const auto colour = [](uint8_t y, uint8_t u, uint8_t v) {
    const Source source{SourceFormat::kNv12, 2, 2, {{{y, y, y, y}, {u, v}}}};
    Target target({Arrangement::kPacked, ChannelOrder::kRgb, DataType::kUint8}, 1, 1);
    make(source, target, {});
    return std::vector<double>{target.channel(0, 0, 0), target.channel(0, 0, 1),
                               target.channel(0, 0, 2)};
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(colour(16, 128, 128), ElementsAre(0, 0, 0));
  EXPECT_THAT(colour(235, 128, 128), ElementsAre(255, 255, 255));
  EXPECT_THAT(colour(81, 90, 240), ElementsAre(254, 0, 0));
  EXPECT_THAT(colour(41, 240, 110), ElementsAre(0, 0, 255));
}

TEST(Preprocess, EveryInstructionSetGivesTheSameBits) {
  const Source source = noise(SourceFormat::kNv12, 64, 48);
  for (const Filter filter : {Filter::kBilinear, Filter::kArea}) {
    std::vector<std::vector<uint8_t>> results;
    for_each_target([&] {
      Target target(kRgbFloats, 21, 17);
      make(source, target, {.filter = filter, .normalisation = kImageNet});
      results.push_back(target.planes[0]);
    });
    for (const auto& result : results) EXPECT_EQ(result, results.front());
  }
}

TEST(Preprocess, SplittingRowsChangesNothing) {
  const Source source = noise(SourceFormat::kBgr, 61, 43);
  for (const auto& [width, height] : {std::pair(22u, 17u), std::pair(80u, 90u)}) {
    const TargetFormat format{Arrangement::kPadded, ChannelOrder::kRgb, DataType::kBf16};
    Target whole(format, width, height), split(format, width, height);
    make(source, whole, {.normalisation = kImageNet});
    const auto one_by_one_backwards = [](const RowWork& work) {
      for (uint32_t y = work.rows; y > 0; --y) work.task(y - 1, y);
    };
    ASSERT_TRUE(preprocess(source.view(), source.whole(), split.view(), split.whole(),
                           {.normalisation = kImageNet}, one_by_one_backwards)
                    .ok());
    EXPECT_EQ(whole.planes, split.planes);
  }
}

TEST(Preprocess, TheProgramsRoundingChangesNothing) {
  const Source source = noise(SourceFormat::kBgr, 61, 43);
  Target nearest(kRgbFloats, 22, 17), upwards(kRgbFloats, 22, 17);
  make(source, nearest, {.normalisation = kImageNet});
  std::fesetround(FE_UPWARD);
  make(source, upwards, {.normalisation = kImageNet});
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(nearest.planes, upwards.planes);
}

// A runner decides by this number whether threads pay.
TEST(Preprocess, SaysHowManyPixelsAreRead) {
  const Source source = noise(SourceFormat::kBgr, 60, 40);
  uint64_t samples = 0;
  const auto note = [&](const RowWork& work) {
    samples = work.samples;
    run_serially(work);
  };
  for (const auto& [filter, expected] :
       {std::pair(Filter::kBilinear, 4u * 6 * 5), std::pair(Filter::kArea, 60u * 40)}) {
    Target target(kRgbFloats, 6, 5);
    ASSERT_TRUE(preprocess(source.view(), source.whole(), target.view(), target.whole(),
                           {.filter = filter}, note)
                    .ok());
    EXPECT_EQ(samples, expected);
  }
}

}  // namespace
}  // namespace millrace::vision
