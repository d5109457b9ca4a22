#include "vision/postprocess/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::ElementsAre;

template <class Element>
std::vector<float> read(const std::vector<Element>& elements, tensor::DataType type, float scale) {
  std::vector<float> values(elements.size());
  read_values(std::as_bytes(std::span(elements)).data(), type, scale, values);
  return values;
}

TEST(Values, IntegersAreScaledAndFloatsAreNot) {
  using tensor::DataType;
  EXPECT_THAT(read<int8_t>({-128, 0, 127}, DataType::kInt8, 0.25F), ElementsAre(-32, 0, 31.75F));
  EXPECT_THAT(read<uint8_t>({0, 200, 255}, DataType::kUint8, 0.25F), ElementsAre(0, 50, 63.75F));
  EXPECT_THAT(read<float>({-1.5F, 2}, DataType::kFloat32, 0.25F), ElementsAre(-1.5F, 2));
  EXPECT_THAT(read<uint16_t>({0x3fc0, 0xc000}, DataType::kBf16, 0.25F), ElementsAre(1.5F, -2));
  EXPECT_THAT(read<uint16_t>({0x3e00, 0xc000}, DataType::kFp16, 0.25F), ElementsAre(1.5F, -2));
}

TEST(Values, BytesNeedNoAlignment) {
  std::array<std::byte, 5> bytes{};
  bytes[1 + 2] = std::byte{0x80};  // of 1.0F = 0x3f800000, after one byte
  bytes[1 + 3] = std::byte{0x3f};
  float value = 0;
  read_values(bytes.data() + 1, tensor::DataType::kFloat32, 1, {&value, 1});
  EXPECT_EQ(value, 1);
}

}  // namespace
}  // namespace millrace::vision
