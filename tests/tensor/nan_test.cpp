#include "tensor/nan.h"

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

}  // namespace
}  // namespace millrace::tensor
