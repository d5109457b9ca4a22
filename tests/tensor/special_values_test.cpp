#include "tensor/special_values.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace millrace::tensor {
namespace {

template <class Bits>
std::optional<size_t> find(DataType type, const std::vector<Bits>& elements) {
  return find_nan(type, std::as_bytes(std::span(elements)));
}

TEST(FindNan, NamesTheFirstOfAFloat) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(find<float>(DataType::kFloat32, {0, infinity, -infinity, -nan, nan}), 3u);
  EXPECT_EQ(find<float>(DataType::kFloat32, {0, infinity, -infinity}), std::nullopt);
}

TEST(FindNan, KnowsBothTypesOf16Bits) {
  // Infinity, minus infinity, and the NaN with the smallest fraction.
  EXPECT_EQ(find<uint16_t>(DataType::kFp16, {0x7c00, 0xfc00, 0xfc01}), 2u);
  EXPECT_EQ(find<uint16_t>(DataType::kBf16, {0x7f80, 0xff80, 0x7f81}), 2u);
  EXPECT_EQ(find<uint16_t>(DataType::kBf16, {0x7c01}), std::nullopt);
}

TEST(FindNan, FindsNoneInIntegers) {
  EXPECT_EQ(find<uint32_t>(DataType::kUint32, {0xffff'ffff}), std::nullopt);
}

TEST(FindNan, FindsNoneInNoElements) {
  EXPECT_EQ(find<float>(DataType::kFloat32, {}), std::nullopt);
}

template <class Bits>
SpecialValues values_of(DataType type, const std::vector<Bits>& elements) {
  return find_special_values(type, std::as_bytes(std::span(elements)));
}

void expect_found(const SpecialValues::Found& found, size_t count, size_t first) {
  EXPECT_EQ(found.count, count);
  EXPECT_EQ(found.first, first);
}

TEST(FindSpecialValues, CountsEachKindAndNamesTheFirst) {
  using Limits = std::numeric_limits<float>;
  const SpecialValues values =
      values_of<float>(DataType::kFloat32, {0.0f, Limits::min(), Limits::denorm_min(),
                                            Limits::max(), -Limits::infinity(), Limits::quiet_NaN(),
                                            -0.0f, -Limits::min() / 2, -Limits::quiet_NaN()});
  expect_found(values.nans, 2, 5);
  expect_found(values.infinities, 1, 4);
  expect_found(values.subnormals, 2, 2);
}

TEST(FindSpecialValues, KnowsTheLimitsOfEveryType) {
  // The largest subnormal and the smallest normal value, the largest value, infinity, NaN.
  const SpecialValues fp16 =
      values_of<uint16_t>(DataType::kFp16, {0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7c01});
  const SpecialValues bf16 =
      values_of<uint16_t>(DataType::kBf16, {0x007f, 0x0080, 0x7f7f, 0x7f80, 0x7f81});
  const SpecialValues fp64 = values_of<double>(
      DataType::kFloat64,
      {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(),
       std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::quiet_NaN()});
  for (const SpecialValues& values : {fp16, bf16, fp64}) {
    expect_found(values.subnormals, 1, 0);
    expect_found(values.infinities, 1, 3);
    expect_found(values.nans, 1, 4);
  }
}

TEST(FindSpecialValues, FindsNoneInIntegers) {
  const SpecialValues values = values_of<uint32_t>(DataType::kUint32, {1, 0xffff'ffff});
  EXPECT_EQ(values.nans.count + values.infinities.count + values.subnormals.count, 0u);
}

}  // namespace
}  // namespace millrace::tensor
