#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const test::Array kOne = array<float>({}, {1});

TEST(FallbackQuantize, RoundsTiesToEvenAndSaturates) {
  const auto x = vector_of<float>({0.5f, 1.5f, -2.5f, 300, -300});
  EXPECT_THAT(compute("QuantizeLinear", {x, kOne, array<int8_t>({}, {1})}).as<int8_t>(),
              ElementsAre(1, 3, -1, 127, -128));
  EXPECT_THAT(compute("QuantizeLinear", {x, kOne}).as<uint8_t>(), ElementsAre(0, 2, 0, 255, 0));
}

TEST(FallbackQuantize, HasAScalePerIndexOfTheAxis) {
  const auto x = array<float>({1, 2, 2}, {1, 2, 10, 20});
  const auto scale = vector_of<float>({1, 10});
  const auto zero = vector_of<uint8_t>({0, 100});
  const auto q = compute("QuantizeLinear", {x, scale, zero});
  EXPECT_THAT(q.as<uint8_t>(), ElementsAre(1, 2, 101, 102));
  EXPECT_THAT(compute("DequantizeLinear", {q, scale, zero}).as<float>(), ElementsAre(1, 2, 10, 20));
  EXPECT_THAT(compute("QuantizeLinear", {x, scale, zero}, {{"axis", int64_t{-1}}}).as<uint8_t>(),
              ElementsAre(1, 100, 10, 102));
}

TEST(FallbackQuantize, SaturatesAtTheLimitsOfNarrowIntegers) {
  const auto x = vector_of<float>({-9, -1, 0.5f, 1.5f, 99});
  const auto to = [&](int64_t type) {
    return compute("QuantizeLinear", {x, kOne}, {{"output_dtype", type}});
  };
  EXPECT_THAT(to(26).as<int8_t>(), ElementsAre(-2, -1, 0, 1, 1));
  EXPECT_THAT(to(25).as<uint8_t>(), ElementsAre(0, 0, 0, 2, 3));
  EXPECT_THAT(to(22).as<int8_t>(), ElementsAre(-8, -1, 0, 2, 7));
}

// Values of 8-bit floating-point types are held as FLOAT32.
TEST(FallbackQuantize, RoundsToNarrowFloatingPointTypes) {
  const auto x = vector_of<float>({34, 38, -2000});
  const auto two = array<float>({}, {2}), none = array<float>({}, {0});
  const auto q = compute("QuantizeLinear", {x, two, none}, {{"output_dtype", int64_t{17}}});
  EXPECT_THAT(q.as<float>(), ElementsAre(16, 20, -448));
  EXPECT_THAT(compute("DequantizeLinear", {q, two, none}).as<float>(), ElementsAre(32, 40, -896));
  const auto beyond = compute("QuantizeLinear", {x, two},
                              {{"output_dtype", int64_t{17}}, {"saturate", int64_t{0}}});
  EXPECT_THAT(beyond.as<float>()[2], ::testing::IsNan());
  EXPECT_EQ(refusal("QuantizeLinear", {x, two}, {{"output_dtype", int64_t{24}}}).code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(refusal("QuantizeLinear", {x, two, none}).code(), StatusCode::kUnsupported);
}

TEST(FallbackQuantize, ComputesInFloat32WhateverFloatingPointTypeIsStated) {
  const auto x = vector_of<float>({0.5f, 3});
  for (const int64_t type : {1, 10, 16}) {
    EXPECT_THAT(compute("QuantizeLinear", {x, kOne}, {{"precision", type}}).as<uint8_t>(),
                ElementsAre(0, 3));
    EXPECT_THAT(
        compute("DequantizeLinear", {vector_of<int8_t>({2}), kOne}, {{"output_dtype", type}})
            .as<float>(),
        ElementsAre(2));
  }
  EXPECT_EQ(refusal("QuantizeLinear", {x, kOne}, {{"precision", int64_t{11}}}).code(),
            StatusCode::kUnsupported);
}

TEST(FallbackQuantize, RefusesParametersThatDoNotFit) {
  const auto x = array<float>({1, 2, 2}, {1, 2, 3, 4});
  const auto three = vector_of<float>({1, 2, 3});
  EXPECT_THAT(refusal("QuantizeLinear", {x, three}).message(), HasSubstr("per index of axis 1"));
  EXPECT_THAT(refusal("QuantizeLinear", {x, kOne}, {{"block_size", int64_t{2}}}).message(),
              HasSubstr("a block of 2"));
  EXPECT_THAT(refusal("DequantizeLinear", {vector_of<int8_t>({1}), kOne, array<uint8_t>({}, {0})})
                  .message(),
              HasSubstr("zero point"));
}

TEST(FallbackDynamicQuantize, IncludesZeroInTheRange) {
  const auto results =
      compute_all("DynamicQuantizeLinear", {vector_of<float>({2, 5.1f, 0.5f})}, {}, 3);
  EXPECT_THAT(results[0].as<uint8_t>(), ElementsAre(100, 255, 25));
  EXPECT_FLOAT_EQ(results[1].as<float>()[0], 0.02f);
  EXPECT_THAT(results[2].as<uint8_t>(), ElementsAre(0));
}

TEST(FallbackDynamicQuantize, HasThreeOutputs) {
  EXPECT_EQ(refusal("DynamicQuantizeLinear", {vector_of<float>({1})}).code(),
            StatusCode::kInvalidArgument);
}

TEST(FallbackDynamicQuantize, OfZerosHasAScale) {
  const auto results = compute_all("DynamicQuantizeLinear", {vector_of<float>({0, 0})}, {}, 3);
  EXPECT_THAT(results[0].as<uint8_t>(), ElementsAre(0, 0));
  EXPECT_GT(results[1].as<float>()[0], 0);
}

TEST(FallbackMatMulInteger, SubtractsZeroPointsOfRowsAndColumns) {
  const auto a = array<uint8_t>({2, 2}, {10, 12, 20, 24});
  const auto b = array<int8_t>({2, 2}, {1, -1, 2, 3});
  EXPECT_THAT(compute("MatMulInteger", {a, b}).as<int32_t>(), ElementsAre(34, 26, 68, 52));
  EXPECT_THAT(
      compute("MatMulInteger", {a, b, vector_of<uint8_t>({10, 20}), vector_of<int8_t>({0, 1})})
          .as<int32_t>(),
      ElementsAre(4, 4, 8, 8));
}

TEST(FallbackMatMulInteger, BroadcastsLeadingDimensions) {
  const auto a = array<uint8_t>({2, 1, 1, 2}, {1, 2, 3, 4});
  const auto b = array<uint8_t>({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  const auto product = compute("MatMulInteger", {a, b});
  EXPECT_EQ(product.dims, (Dims{2, 3, 1, 1}));
  EXPECT_THAT(product.as<int32_t>(), ElementsAre(1, 2, 3, 3, 4, 7));
}

TEST(FallbackMatMulInteger, RefusesFactorsThatDoNotFit) {
  const auto a = array<uint8_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(refusal("MatMulInteger", {a, array<uint8_t>({1, 2}, {1, 2})}).message(),
              HasSubstr("inner dimensions"));
  EXPECT_EQ(refusal("MatMulInteger", {a, a, vector_of<uint8_t>({1, 2, 3})}).code(),
            StatusCode::kUnsupported);
}

TEST(FallbackQLinearMatMul, RequantisesTheProduct) {
  const auto a = array<uint8_t>({1, 2}, {130, 126}), b = array<uint8_t>({2, 1}, {3, 2});
  const auto scale = [](float value) { return array<float>({}, {value}); };
  const auto zero = [](uint8_t value) { return array<uint8_t>({}, {value}); };
  EXPECT_THAT(compute("QLinearMatMul",
                      {a, scale(0.5f), zero(128), b, scale(2), zero(0), scale(0.25f), zero(10)})
                  .as<uint8_t>(),
              ElementsAre(18));
}

// Columns 0 and 1 share a scale in each row, column 2 has its own.
TEST(FallbackQuantize, HasAScaleForEachBlock) {
  const auto scales = array<float>({2, 2}, {1, 2, 0.5f, 4});
  const auto zeros = array<uint8_t>({2, 2}, {0, 1, 2, 3});
  const test::Attributes blocks = {{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
  const auto q = array<uint8_t>({2, 3}, {10, 11, 12, 13, 14, 15});
  const auto x = compute("DequantizeLinear", {q, scales, zeros}, blocks);
  EXPECT_THAT(x.as<float>(), ElementsAre(10, 11, 22, 5.5f, 6, 48));
  EXPECT_EQ(compute("QuantizeLinear", {x, scales, zeros}, blocks).bytes, q.bytes);
  EXPECT_THAT(
      refusal("DequantizeLinear", {q, scales}, {{"axis", int64_t{1}}, {"block_size", int64_t{1}}})
          .message(),
      HasSubstr("[2,3]"));
  EXPECT_EQ(
      refusal("DequantizeLinear", {q, scales}, {{"axis", int64_t{1}}, {"block_size", int64_t{-2}}})
          .code(),
      StatusCode::kInvalidArgument);
}

TEST(FallbackQuantize, TakesItsTypeFromAnAttribute) {
  const auto x = vector_of<float>({-1000, 1000}), one = array<float>({}, {1});
  const auto y = compute("QuantizeLinear", {x, one}, {{"output_dtype", int64_t{5}}});
  EXPECT_EQ(y.type, DataType::kInt16);
  EXPECT_THAT(y.as<int16_t>(), ElementsAre(-1000, 1000));
}

TEST(FallbackMatMulInteger, ScalesItsSums) {
  const test::Array a = test::array<uint8_t>({1, 2}, {12, 7});
  const test::Array b = test::array<int8_t>({2, 2}, {1, 2, -3, 4});
  const test::Array zero = test::array<uint8_t>({}, {10});
  const test::Array scale = test::array<float>({}, {0.5f});
  const std::vector<test::Array> operands = {a, b, zero, test::absent(), scale};
  const char* const name = "millrace.MatMulIntegerToFloat";
  EXPECT_EQ(test::compute(name, operands).as<float>(), (std::vector<float>{5.5f, -4}));
  auto biased = operands;
  biased.push_back(test::vector_of<float>({1, 2}));
  EXPECT_EQ(test::compute(name, biased).as<float>(), (std::vector<float>{6.5f, -2}));
  auto wrong = biased;
  wrong[5] = test::vector_of<float>({1, 2, 3});
  EXPECT_FALSE(test::refusal(name, wrong).ok());
  EXPECT_FALSE(test::refusal(name, {a, b}).ok());
}

}  // namespace
}  // namespace millrace::fallback
