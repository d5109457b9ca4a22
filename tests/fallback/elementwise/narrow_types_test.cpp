// Types of fewer than 16 bits: their values, casts to them, and casts of bits.
#include "fallback/narrow_types.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

// Numbers of types in ONNX.
constexpr int64_t kE4M3FN = 17, kE4M3FNUZ = 18, kE5M2 = 19, kE5M2FNUZ = 20, kUint4 = 21, kInt4 = 22,
                  kE2M1 = 23, kUint2 = 25, kInt2 = 26;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

float value(int64_t type, int code) {
  return value_of_code(*narrow_type(type), static_cast<uint8_t>(code));
}

// Zero, the least subnormal and normal numbers, one, the greatest number, and what follows it.
TEST(NarrowTypes, CodesHaveTheValuesOfTheirFormats) {
  const std::pair<int64_t, std::vector<std::pair<int, float>>> cases[] = {
      {kE4M3FN, {{0, 0}, {1, 0x1p-9f}, {8, 0x1p-6f}, {0x38, 1}, {0x7e, 448}, {0xfe, -448}}},
      {kE4M3FNUZ, {{0, 0}, {1, 0x1p-10f}, {8, 0x1p-7f}, {0x40, 1}, {0x7f, 240}, {0xff, -240}}},
      {kE5M2, {{0, 0}, {1, 0x1p-16f}, {4, 0x1p-14f}, {0x3c, 1}, {0x7b, 57344}, {0xfc, -kInfinity}}},
      {kE5M2FNUZ, {{0, 0}, {1, 0x1p-17f}, {4, 0x1p-15f}, {0x40, 1}, {0x7f, 57344}}},
      {kE2M1, {{0, 0}, {1, .5f}, {2, 1}, {3, 1.5f}, {4, 2}, {5, 3}, {6, 4}, {7, 6}, {15, -6}}},
      {kFloat8E8M0, {{0, 0x1p-127f}, {127, 1}, {254, 0x1p127f}}},
      {kUint4, {{0, 0}, {7, 7}, {15, 15}}},
      {kInt4, {{0, 0}, {7, 7}, {8, -8}, {15, -1}}},
      {kUint2, {{0, 0}, {3, 3}}},
      {kInt2, {{1, 1}, {2, -2}, {3, -1}}}};
  for (const auto& [type, codes] : cases)
    for (const auto& [code, expected] : codes)
      EXPECT_EQ(value(type, code), expected) << type << ": " << code;
  for (const auto& [type, code] :
       {std::pair(kE4M3FN, 0x7f), std::pair(kE4M3FNUZ, 0x80), std::pair(kE5M2, 0x7d),
        std::pair(kE5M2FNUZ, 0x80), std::pair(kFloat8E8M0, 0xff)})
    EXPECT_THAT(value(type, code), IsNan()) << type;
  EXPECT_EQ(narrow_type(1), nullptr);
  EXPECT_EQ(narrow_type(27), nullptr);
}

TEST(NarrowTypes, EveryValueHasItsCodeAndIsItsOwnNearest) {
  for (int64_t number = kE4M3FN; number <= kInt2; ++number) {
    const NarrowType& type = *narrow_type(number);
    for (int code = 0; code < 1 << type.bits; ++code) {
      const float own = value(number, code);
      if (std::isnan(own)) continue;
      EXPECT_EQ(code_of_value(type, own), code) << type.name;
      if (type.is_floating() && number != kFloat8E8M0 && std::isfinite(own)) {
        EXPECT_EQ(nearest(type, own, false), own) << type.name;
      }
    }
  }
}

TEST(NarrowTypes, RoundsToTheNearestValueTiesToEven) {
  const auto round = [](int64_t type, float x) { return nearest(*narrow_type(type), x, true); };
  EXPECT_EQ(round(kE4M3FN, 17), 16);
  EXPECT_EQ(round(kE4M3FN, 19), 20);
  EXPECT_EQ(round(kE4M3FN, -17.01f), -18);
  EXPECT_EQ(round(kE4M3FN, 0x1.8p-9f), 0x1p-8f);
  EXPECT_EQ(round(kE4M3FN, 0x1p-10f), 0);
  EXPECT_EQ(round(kE5M2, 9), 8);
  EXPECT_EQ(round(kE5M2, 11), 12);
  EXPECT_EQ(round(kE2M1, 2.5f), 2);
  EXPECT_EQ(round(kE2M1, 5), 4);
  EXPECT_EQ(round(kE2M1, 0.25f), 0);
}

TEST(NarrowTypes, BeyondTheGreatestValueTheySaturateOrDoNot) {
  const auto round = [](int64_t type, float x, bool saturate) {
    return nearest(*narrow_type(type), x, saturate);
  };
  EXPECT_EQ(round(kE4M3FN, 464, false), 448) << "rounds to the greatest value";
  for (const float beyond : {465.0f, 1e30f, kInfinity}) {
    EXPECT_EQ(round(kE4M3FN, beyond, true), 448);
    EXPECT_EQ(round(kE4M3FN, -beyond, true), -448);
    EXPECT_THAT(round(kE4M3FN, beyond, false), IsNan());
    EXPECT_THAT(round(kE4M3FNUZ, beyond, false), IsNan());
    EXPECT_EQ(round(kE2M1, beyond, false), 6);
  }
  EXPECT_EQ(round(kE5M2, 1e6f, true), 57344);
  EXPECT_EQ(round(kE5M2, -1e6f, false), -kInfinity);
  for (const int64_t type : {kE4M3FN, kE5M2, kE5M2FNUZ})
    EXPECT_THAT(round(type, kNaN, true), IsNan());
  for (const bool saturate : {false, true}) EXPECT_EQ(round(kE2M1, kNaN, saturate), 6);
  EXPECT_FALSE(std::signbit(round(kE5M2FNUZ, -0.0f, true))) << "there is no -0";
  EXPECT_TRUE(std::signbit(round(kE5M2, -0.0f, true)));
}

TEST(FallbackNarrowCast, IntegersKeepTheirLowerBits) {
  const auto x = vector_of<int32_t>({7, 8, -9, 200, 3});
  const auto to = [&](int64_t type) { return compute("millrace.NarrowCast", {x}, {{"to", type}}); };
  EXPECT_THAT(to(kInt4).as<int8_t>(), ElementsAre(7, -8, 7, -8, 3));
  EXPECT_THAT(to(kUint4).as<uint8_t>(), ElementsAre(7, 8, 7, 8, 3));
  EXPECT_THAT(to(kInt2).as<int8_t>(), ElementsAre(-1, 0, -1, 0, -1));
  EXPECT_THAT(to(kUint2).as<uint8_t>(), ElementsAre(3, 0, 3, 0, 3));
}

TEST(FallbackNarrowCast, FloatingPointValuesAreRoundedAndSaturate) {
  const auto x = vector_of<float>({-1.5f, 2.4f, 100, -100, kNaN});
  const auto to = [&](int64_t type) { return compute("millrace.NarrowCast", {x}, {{"to", type}}); };
  EXPECT_THAT(to(kInt4).as<int8_t>(), ElementsAre(-2, 2, 7, -8, 0));
  EXPECT_THAT(to(kUint2).as<uint8_t>(), ElementsAre(0, 2, 3, 0, 0));
  EXPECT_THAT(to(kE2M1).as<float>(), ElementsAre(-1.5f, 2, 6, -6, 6));
  EXPECT_THAT(compute("millrace.NarrowCast", {vector_of<float>({1e9f})},
                      {{"saturate", int64_t{0}}, {"to", kE5M2}})
                  .as<float>(),
              ElementsAre(kInfinity));
  EXPECT_EQ(refusal("millrace.NarrowCast", {x}, {{"to", kFloat8E8M0}}).code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(refusal("millrace.NarrowCast", {x}, {{"to", int64_t{1}}}).code(),
            StatusCode::kInvalidArgument);
}

TEST(FallbackBitCast, KeepsTheBits) {
  const auto ones = vector_of<float>({1, -2});
  const auto bits = compute("BitCast", {ones}, {{"to", int64_t{6}}});
  EXPECT_THAT(bits.as<int32_t>(), ElementsAre(0x3f800000, -0x40000000));
  EXPECT_THAT(compute("BitCast", {bits}, {{"to", int64_t{1}}}).as<float>(), ElementsAre(1, -2));
  EXPECT_THAT(compute("BitCast", {vector_of<int64_t>({0x3ff0000000000000})}, {{"to", int64_t{11}}})
                  .as<double>(),
              ElementsAre(1));
  EXPECT_THAT(compute("BitCast", {vector_of<int8_t>({-1, 5})}, {{"to", int64_t{2}}}).as<uint8_t>(),
              ElementsAre(255, 5));
}

// A graph holds these types in wider ones.
TEST(FallbackBitCast, KeepsTheBitsOfTypesThatAGraphDoesNotHave) {
  const auto cast = [](const test::Array& x, int64_t from, int64_t to) {
    return compute("BitCast", {x}, {{"from", from}, {"to", to}});
  };
  constexpr int64_t kFp16 = 10, kInt16 = 5, kBf16 = 16, kUint8 = 2;
  EXPECT_THAT(cast(vector_of<float>({1, -2}), kFp16, kInt16).as<int16_t>(),
              ElementsAre(0x3c00, -0x4000));
  EXPECT_THAT(cast(vector_of<float>({1}), kBf16, kFp16).as<float>(), ElementsAre(1.875f));
  EXPECT_THAT(compute("BitCast", {vector_of<int16_t>({0x3c00})}, {{"to", kFp16}}).as<float>(),
              ElementsAre(1));
  EXPECT_THAT(cast(vector_of<float>({448, -1}), kE4M3FN, kUint8).as<uint8_t>(),
              ElementsAre(0x7e, 0xb8));
  EXPECT_THAT(compute("BitCast", {vector_of<uint8_t>({0x7b})}, {{"to", kE5M2}}).as<float>(),
              ElementsAre(57344));
  EXPECT_THAT(cast(vector_of<int8_t>({-1, 7}), kInt4, kUint4).as<uint8_t>(), ElementsAre(15, 7));
  EXPECT_THAT(cast(vector_of<uint8_t>({3, 1}), kUint2, kInt2).as<int8_t>(), ElementsAre(-1, 1));
}

TEST(FallbackBitCast, RefusesTypesOfAnotherWidth) {
  const auto x = vector_of<float>({1});
  EXPECT_THAT(refusal("BitCast", {x}, {{"to", int64_t{7}}}).message(),
              HasSubstr("elements of 32 bits to elements of 64 bits"));
  EXPECT_THAT(refusal("BitCast", {x}, {{"from", int64_t{6}}, {"to", int64_t{1}}}).message(),
              HasSubstr("does not have the type"));
  EXPECT_EQ(refusal("BitCast", {x}, {{"to", int64_t{8}}}).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::fallback
