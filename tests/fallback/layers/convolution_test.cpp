#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::compute;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Array kRow = array<uint8_t>({1, 1, 4}, {1, 2, 3, 4});
const Array kPair = array<uint8_t>({1, 1, 2}, {1, 10});

TEST(FallbackConvInteger, PadsWithTheZeroPoint) {
  const auto zero = array<uint8_t>({}, {1});
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair}, {{"pads", Dims{1, 1}}}).as<int32_t>(),
              ElementsAre(10, 21, 32, 43, 4));
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair, zero}, {{"pads", Dims{1, 1}}}).as<int32_t>(),
              ElementsAre(0, 10, 21, 32, 3));
}

TEST(FallbackConvInteger, StridesDilatesAndPadsToTheSameSize) {
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair}, {{"strides", Dims{2}}}).as<int32_t>(),
              ElementsAre(21, 43));
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair}, {{"dilations", Dims{3}}}).as<int32_t>(),
              ElementsAre(41));
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair}, {{"auto_pad", std::string("SAME_UPPER")}})
                  .as<int32_t>(),
              ElementsAre(21, 32, 43, 4));
  EXPECT_THAT(compute("ConvInteger", {kRow, kPair}, {{"auto_pad", std::string("SAME_LOWER")}})
                  .as<int32_t>(),
              ElementsAre(10, 21, 32, 43));
}

// More channels than the kernel takes at a time, the last few of each group alone.
TEST(FallbackConvInteger, OfManyChannelsInGroups) {
  constexpr int64_t kGroups = 2, kInputs = 3, kOutputs = 19, kSize = 4, kPadding = 1;
  constexpr int64_t kChannels = kGroups * kOutputs;
  constexpr uint8_t kZero = 120;
  std::vector<uint8_t> x(kGroups * kInputs * kSize * kSize);
  std::vector<int8_t> weights(kChannels * kInputs * 3), zeros(kChannels);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(i * 53);
  for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = static_cast<int8_t>(i * 11);
  std::vector<int32_t> expected;
  for (int64_t m = 0; m < kChannels; ++m)
    for (int64_t row = 0; row < kSize; ++row)
      for (int64_t column = 0; column < kSize; ++column) {
        int32_t sum = 0;
        for (int64_t c = 0; c < kInputs; ++c)
          for (int64_t tap = 0; tap < 3; ++tap) {
            const int64_t at = column + tap - kPadding, plane = m / kOutputs * kInputs + c;
            if (at < 0 || at >= kSize) continue;
            const auto element = static_cast<size_t>((plane * kSize + row) * kSize + at);
            const auto weight = static_cast<size_t>((m * kInputs + c) * 3 + tap);
            sum += (x[element] - kZero) * (weights[weight] - zeros[static_cast<size_t>(m)]);
          }
        expected.push_back(sum);
      }
  const Array y = compute("ConvInteger",
                          {array<uint8_t>({1, kGroups * kInputs, kSize, kSize}, x),
                           array<int8_t>({kChannels, kInputs, 1, 3}, weights),
                           array<uint8_t>({1}, {kZero}), array<int8_t>({kChannels}, zeros)},
                          {{"group", kGroups}, {"pads", Dims{0, kPadding, 0, kPadding}}});
  EXPECT_EQ(y.as<int32_t>(), expected);
}

TEST(FallbackConvInteger, SumsWrapAround) {
  constexpr int64_t kTaps = 34000;  // times 255 * 255: beyond the largest INT32
  const auto bytes = array<uint8_t>({1, 1, kTaps}, std::vector<uint8_t>(kTaps, 255));
  EXPECT_THAT(compute("ConvInteger", {bytes, bytes}).as<int32_t>(),
              ElementsAre(static_cast<int32_t>(static_cast<uint32_t>(kTaps * 255 * 255))));
}

TEST(FallbackConvInteger, KeepsGroupsApart) {
  const auto x = array<uint8_t>({1, 2, 1}, {3, 5});
  const auto weights = array<int8_t>({4, 1, 1}, {1, -1, 2, -2});
  EXPECT_THAT(compute("ConvInteger", {x, weights}, {{"group", int64_t{2}}}).as<int32_t>(),
              ElementsAre(3, -3, 10, -10));
}

// The results of quantised models follow from it. Products 1 to 127 are lost beside the first, one
// by one; those of the second block are 12 together, which is next to 16, a step of FLOAT32 there;
// the bias comes last.
TEST(FallbackConvolution, SumsOfFloat32HaveAStatedOrder) {
  constexpr float kLarge = 1 << 27;
  std::vector<float> weights(130, 1);
  weights[0] = kLarge;
  weights[128] = weights[129] = 6;
  const auto x = array<float>({1, 130, 1}, std::vector<float>(130, 1));
  const auto w = array<float>({1, 130, 1}, weights);
  EXPECT_THAT(compute("Conv", {x, w}).as<float>(), ElementsAre(kLarge + 16));
  EXPECT_THAT(compute("Conv", {x, w, array<float>({1}, {-kLarge})}).as<float>(), ElementsAre(16));
}

TEST(FallbackConvolution, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"group", int64_t{0}}}).message(),
              HasSubstr("group"));
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"group", int64_t{2}}}).message(),
              HasSubstr("channels and groups"));
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"strides", Dims{0}}}).message(),
              HasSubstr("strides is [0]: it must have 1 entries of at least 1"));
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"pads", Dims{1}}}).message(),
              HasSubstr("2 entries of at least 0"));
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"dilations", Dims{5}}}).message(),
              HasSubstr("larger than the padded input"));
  EXPECT_THAT(refusal("ConvInteger", {kRow, kPair}, {{"kernel_shape", Dims{3}}}).message(),
              HasSubstr("kernel_shape"));
}

TEST(FallbackQLinearConv, HasScalesPerChannel) {
  const auto scale = [](float value) { return array<float>({}, {value}); };
  const auto zero = [](uint8_t value) { return array<uint8_t>({}, {value}); };
  const auto weights = array<uint8_t>({2, 1, 1}, {1, 1});
  const auto scales = array<float>({2}, {1, 10});
  const auto bias = array<int32_t>({2}, {0, 1});
  const auto x = array<uint8_t>({1, 1, 2}, {4, 6});
  EXPECT_THAT(compute("QLinearConv",
                      {x, scale(1), zero(2), weights, scales, zero(0), scale(2), zero(5), bias})
                  .as<uint8_t>(),
              ElementsAre(6, 7, 20, 30));
}

const Array kPoints = array<float>({1, 1, 2}, {1, 10});
const Array kKernel = array<float>({1, 1, 3}, {1, 2, 3});

TEST(FallbackConvTranspose, AddsAKernelPerElement) {
  EXPECT_THAT(compute("ConvTranspose", {kPoints, kKernel}).as<float>(), ElementsAre(1, 12, 23, 30));
  EXPECT_THAT(compute("ConvTranspose", {kPoints, kKernel}, {{"strides", Dims{2}}}).as<float>(),
              ElementsAre(1, 2, 13, 20, 30));
  EXPECT_THAT(compute("ConvTranspose", {kPoints, kKernel, array<float>({1}, {100})},
                      {{"output_padding", Dims{1}}, {"pads", Dims{1, 0}}, {"strides", Dims{2}}})
                  .as<float>(),
              ElementsAre(102, 113, 120, 130, 100));
}

TEST(FallbackConvTranspose, TheShapeOfTheOutputSettlesThePadding) {
  const auto with = [&](test::Attributes attributes) {
    return compute("ConvTranspose", {kPoints, kKernel}, std::move(attributes)).as<float>();
  };
  EXPECT_THAT(with({{"output_shape", Dims{3}}}), ElementsAre(12, 23, 30));
  EXPECT_THAT(with({{"auto_pad", std::string("SAME_UPPER")}, {"output_shape", Dims{3}}}),
              ElementsAre(1, 12, 23));
  EXPECT_THAT(with({{"auto_pad", std::string("SAME_UPPER")}, {"strides", Dims{2}}}),
              ElementsAre(1, 2, 13, 20));
}

TEST(FallbackConvTranspose, RefusesAnOutputOutOfRange) {
  for (const int64_t size :
       {int64_t{0}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(
        refusal("ConvTranspose", {kPoints, kKernel}, {{"output_shape", Dims{size}}}).message(),
        HasSubstr("output_shape is out of range"));
  }
}

TEST(FallbackConvTranspose, KeepsGroupsApart) {
  const auto x = array<float>({1, 2, 1}, {3, 5});
  const auto weights = array<float>({2, 2, 1}, {1, 10, 100, 1000});
  EXPECT_THAT(compute("ConvTranspose", {x, weights}, {{"group", int64_t{2}}}).as<float>(),
              ElementsAre(3, 30, 500, 5000));
  EXPECT_THAT(compute("ConvTranspose", {x, weights}).as<float>(), ElementsAre(503, 5030));
  EXPECT_THAT(refusal("ConvTranspose", {x, weights}, {{"output_padding", Dims{1}}}).message(),
              HasSubstr("output_padding"));
}

TEST(FallbackConvInteger, ScalesItsSums) {
  const test::Array x = test::array<uint8_t>({1, 1, 1, 3}, {12, 10, 7});
  const test::Array weights = test::array<int8_t>({2, 1, 1, 2}, {1, 2, -3, 4});
  const test::Array zero = test::array<uint8_t>({}, {10});
  const test::Array scales = test::vector_of<float>({0.5f, 2});
  const std::vector<test::Array> operands = {x, weights, zero, test::absent(), scales};
  const char* const name = "millrace.ConvIntegerToFloat";
  EXPECT_EQ(test::compute(name, operands).as<float>(), (std::vector<float>{1, -3, -12, -24}));
  auto biased = operands;
  biased.push_back(test::vector_of<float>({100, 200}));
  EXPECT_EQ(test::compute(name, biased).as<float>(), (std::vector<float>{101, 97, 188, 176}));
  auto wrong = operands;
  wrong[4] = test::vector_of<float>({1, 2, 3});
  EXPECT_FALSE(test::refusal(name, wrong).ok());
  EXPECT_FALSE(test::refusal(name, {x, weights}).ok());
}

}  // namespace
}  // namespace millrace::fallback
