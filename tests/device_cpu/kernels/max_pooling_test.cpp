// The loops of maximum pooling in BF16, whether or not networks of this machine come to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/kernels/pooling/max_pooling/loops.h"
#include "tests/device_cpu/reference.h"

namespace millrace::device::cpu::kernels::max_pooling {
namespace {

using ::testing::Each;

constexpr uint16_t kGuard = 0x1234;
constexpr uint16_t kNan = 0x7fc0, kNegativeNan = 0xffc0;
constexpr uint16_t kInfinity = 0x7f80, kNegativeInfinity = 0xff80;
constexpr uint16_t kOne = 0x3f80, kNegativeOne = 0xbf80;

float number_of(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

// The result, behind which `guards` elements are written by nobody.
std::vector<uint16_t> pool(const WindowPlan& plan, size_t channels,
                           const std::vector<uint16_t>& image, size_t guards = 64) {
  const size_t rows = plan[1].positions.size(), columns = plan[2].positions.size();
  std::vector<uint16_t> result(rows * columns * channels + guards, kGuard);
  run(Work<uint16_t>{&plan, channels, image.data(), result.data(), 0, rows});
  const auto end = result.end() - static_cast<ptrdiff_t>(guards);
  EXPECT_THAT(std::vector(end, result.end()), Each(kGuard));
  result.erase(end, result.end());
  return result;
}

// The maximum of one row of pixels, under one window; a pixel has one number in all 33 channels.
uint16_t largest_of(const std::vector<uint16_t>& pixels) {
  constexpr size_t kChannels = 33;
  const auto count = static_cast<int64_t>(pixels.size());
  const WindowPlan plan = {WindowAxis{}, WindowAxis{}, {count, 1, {{0, count, count}}}};
  std::vector<uint16_t> image;
  for (const uint16_t pixel : pixels) image.insert(image.end(), kChannels, pixel);
  const std::vector<uint16_t> result = pool(plan, kChannels, image);
  EXPECT_THAT(result, Each(result[0]));
  return result[0];
}

TEST(MaxPoolingLoops, TakeTheLargestOfEveryNumberOfChannels) {
  const graph::Pool op{
      graph::PoolKind::kMax, {3, 2}, {2, 1}, {1, 2}, {1, 1}, {1, 1}, {0, 0}, false};
  for (const int64_t channels : {16, 17, 31, 32, 33, 63, 64}) {
    SCOPED_TRACE(channels);
    const graph::Dims from = {1, channels, 7, 5}, to = {1, channels, 4, 5};
    Tensor x = Tensor::zeros(from);
    std::vector<uint16_t> image;
    const Tensor numbers = Tensor::numbers({7, 5, channels}, 1);
    for (const float number : numbers.data)
      image.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16));
    size_t next = 0;
    for (int64_t row = 0; row < 7; ++row)
      for (int64_t column = 0; column < 5; ++column)
        for (int64_t c = 0; c < channels; ++c) x.at({0, c, row, column}) = number_of(image[next++]);
    Tensor expected = reference_pool(op, x, to);
    const std::vector<uint16_t> y =
        pool(window_plan(op, from, to), static_cast<size_t>(channels), image);
    next = 0;
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t column = 0; column < 5; ++column)
        for (int64_t c = 0; c < channels; ++c)
          ASSERT_EQ(number_of(y[next++]), expected.at({0, c, row, column}));
  }
}

TEST(MaxPoolingLoops, WriteTheirRowsAlone) {
  const WindowPlan plan = {WindowAxis{}, {3, 1, {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}}}, WindowAxis{}};
  const std::vector<uint16_t> image(3 * 17, kOne);
  std::vector<uint16_t> result(3 * 17, kGuard), expected = result;
  std::fill_n(expected.begin() + 17, 17, kOne);
  run(Work<uint16_t>{&plan, 17, image.data(), result.data(), 1, 1});
  EXPECT_EQ(result, expected);
}

bool is_nan(uint16_t bits) {
  return std::isnan(number_of(bits));
}

TEST(MaxPoolingLoops, KeepNaNsOfEitherSign) {
  for (const int nan : {0x7f81, 0x7fc0, 0x7fff, 0xff81, 0xffc0, 0xffff}) {
    SCOPED_TRACE(nan);
    const auto bits = static_cast<uint16_t>(nan);
    for (const uint16_t number :
         {kInfinity, kOne, uint16_t{0}, kNegativeOne, uint16_t{0xff7f}, kNegativeInfinity}) {
      EXPECT_TRUE(is_nan(largest_of({bits, number})));
      EXPECT_TRUE(is_nan(largest_of({number, bits})));
      EXPECT_TRUE(is_nan(largest_of({number, bits, number})));
    }
  }
  EXPECT_TRUE(is_nan(largest_of({kNan, kNegativeNan})));
}

TEST(MaxPoolingLoops, OfFloatsKeepNaNsAndInfinities) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kMost = std::numeric_limits<float>::infinity();
  for (const size_t channels : {8, 16, 21, 32, 64}) {
    SCOPED_TRACE(channels);
    const WindowPlan plan = {WindowAxis{}, WindowAxis{}, {3, 1, {{0, 3, 3}}}};
    std::vector<float> image(3 * channels, -kMost), result(channels);
    image[channels + 1] = kNone;
    image[2] = -kNone;
    image[2 * channels + 3] = kMost;
    image[channels - 1] = kNone;
    run(Work<float>{&plan, channels, image.data(), result.data(), 0, 1});
    for (size_t c = 0; c < channels; ++c) {
      const bool is_nan_there = c == 1 || c == 2 || c == channels - 1;
      if (is_nan_there)
        EXPECT_TRUE(std::isnan(result[c])) << c;
      else
        EXPECT_EQ(result[c], c == 3 ? kMost : -kMost) << c;
    }
  }
}

TEST(MaxPoolingLoops, OrderInfinitiesAndZeros) {
  EXPECT_EQ(largest_of({kOne, kInfinity, 0x7f7f}), kInfinity);
  EXPECT_EQ(largest_of({kNegativeInfinity, 0xff7f}), 0xff7f);
  EXPECT_EQ(largest_of({0x8000, 0}), 0);
  EXPECT_EQ(largest_of({0x8001, 0x8000}), 0x8000);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::max_pooling
