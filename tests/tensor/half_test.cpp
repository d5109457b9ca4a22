#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/tensor/reference.h"
#include "tests/tensor/values.h"

namespace millrace::tensor {
namespace {

using Limits = std::numeric_limits<float>;

// The values around each boundary where rounding to 16 bits changes its result.
template <class Check>
void for_each_boundary(uint16_t infinity, float (*widen)(uint16_t), const Check& check) {
  for (uint32_t code = 0; code + 1 < infinity; ++code) {
    const float low = widen(static_cast<uint16_t>(code));
    const float high = widen(static_cast<uint16_t>(code + 1));
    const float middle = low + (high - low) / 2;
    for (const float value :
         {low, std::nextafter(low, Limits::infinity()), std::nextafter(middle, 0.0f), middle,
          std::nextafter(middle, Limits::infinity()), std::nextafter(high, 0.0f)}) {
      check(value);
      check(-value);
    }
  }
}

std::string hex(float value) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", std::bit_cast<uint32_t>(value));
  return text;
}

TEST(Half, Bf16RoundsToNearestEvenAtEveryBoundary) {
  for_each_boundary(0x7f80, bf16_to_float, [](float value) {
    ASSERT_EQ(float_to_bf16(value), reference::to_bf16(value)) << hex(value);
    ASSERT_EQ(float_to_bf16_toward_zero(value), reference::to_bf16(value, true)) << hex(value);
  });
}

TEST(Half, Fp16RoundsToNearestEvenAtEveryBoundary) {
  for_each_boundary(0x7c00, fp16_to_float, [](float value) {
    ASSERT_EQ(float_to_fp16(value), reference::to_fp16(value)) << hex(value);
    ASSERT_EQ(float_to_fp16_toward_zero(value), reference::to_fp16(value, true)) << hex(value);
  });
}

TEST(Half, SpecialValues) {
  for (const float value : special_floats()) {
    EXPECT_EQ(float_to_bf16(value), reference::to_bf16(value)) << hex(value);
    EXPECT_EQ(float_to_bf16_toward_zero(value), reference::to_bf16(value, true)) << hex(value);
    EXPECT_EQ(float_to_fp16(value), reference::to_fp16(value)) << hex(value);
    EXPECT_EQ(float_to_fp16_toward_zero(value), reference::to_fp16(value, true)) << hex(value);
  }
}

TEST(Half, OverflowIsInfinityToNearestAndFiniteTowardZero) {
  EXPECT_EQ(float_to_fp16(65519.99f), 0x7bff);
  EXPECT_EQ(float_to_fp16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_fp16(-1e10f), 0xfc00);
  EXPECT_EQ(float_to_fp16_toward_zero(1e10f), 0x7bff);
  EXPECT_EQ(float_to_fp16_toward_zero(Limits::infinity()), 0x7c00);
  EXPECT_EQ(float_to_bf16(Limits::max()), 0x7f80);
  EXPECT_EQ(float_to_bf16_toward_zero(Limits::max()), 0x7f7f);
}

TEST(Half, NanStaysQuietNanWithItsSign) {
  // The payload lies in bits that the narrow types drop: it must not turn into infinity.
  const auto nan = std::bit_cast<float>(0xff800001u);
  EXPECT_EQ(float_to_bf16(nan), 0xffc0);
  EXPECT_EQ(float_to_fp16(nan), 0xfe00);
  EXPECT_EQ(float_to_bf16_toward_zero(nan), 0xffc0);
  EXPECT_EQ(float_to_fp16_toward_zero(nan), 0xfe00);
  EXPECT_TRUE(std::isnan(fp16_to_float(0x7c01)));
  EXPECT_TRUE(std::isnan(bf16_to_float(0x7f81)));
}

TEST(Half, EveryFp16WidensExactlyAndComesBack) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const float value = fp16_to_float(bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(reference::from_fp16(bits)))
        << code;
    ASSERT_EQ(float_to_fp16(value), std::isnan(value) ? bits | 0x200 : bits);
  }
}

}  // namespace
}  // namespace millrace::tensor
