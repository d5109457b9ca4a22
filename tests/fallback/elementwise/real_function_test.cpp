#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

double of(const char* name, double x, test::Attributes attributes = {}) {
  return compute(name, {vector_of<double>({x})}, std::move(attributes)).as<double>()[0];
}

TEST(FallbackRealFunction, EachHasTheDigitsOfADouble) {
  const double x = 0.7;
  EXPECT_THAT(of("Exp", x), DoubleEq(std::exp(x)));
  EXPECT_THAT(of("Log", x), DoubleEq(std::log(x)));
  EXPECT_THAT(of("Sqrt", x), DoubleEq(std::sqrt(x)));
  EXPECT_THAT(of("Tanh", x), DoubleEq(std::tanh(x)));
  EXPECT_THAT(of("Erf", x), DoubleEq(std::erf(x)));
  EXPECT_THAT(of("Reciprocal", x), DoubleEq(1 / x));
  EXPECT_THAT(of("Sigmoid", x), DoubleEq(1 / (1 + std::exp(-x))));
  EXPECT_THAT(of("Softplus", x), DoubleEq(std::log(1 + std::exp(x))));
  EXPECT_THAT(of("Mish", x), DoubleEq(x * std::tanh(std::log(1 + std::exp(x)))));
  EXPECT_THAT(of("HardSwish", x), DoubleEq(x * (x / 6 + 0.5)));
}

TEST(FallbackRealFunction, RoundsHalvesToEven) {
  EXPECT_EQ(of("Round", 2.5), 2);
  EXPECT_EQ(of("Round", -3.5), -4);
  EXPECT_EQ(of("Floor", -0.5), -1);
  EXPECT_EQ(of("Ceil", 0.5), 1);
}

TEST(FallbackRealFunction, ParametersApplyBelowZero) {
  EXPECT_EQ(of("LeakyRelu", -2, {{"alpha", 0.5f}}), -1);
  EXPECT_EQ(of("LeakyRelu", 2, {{"alpha", 0.5f}}), 2);
  EXPECT_THAT(of("Elu", -1, {{"alpha", 2.0f}}), DoubleEq(2 * std::expm1(-1)));
  EXPECT_THAT(of("Selu", -1, {{"alpha", 2.0f}, {"gamma", 3.0f}}), DoubleEq(6 * std::expm1(-1)));
  EXPECT_EQ(of("HardSigmoid", 1, {{"alpha", 0.25f}, {"beta", 0.5f}}), 0.75);
  EXPECT_EQ(of("HardSigmoid", 9, {{"alpha", 0.25f}, {"beta", 0.5f}}), 1);
}

TEST(FallbackRealFunction, OfNothingIsNothing) {
  EXPECT_EQ(compute("Exp", {array<double>({0, 3}, {})}).dims, (Dims{0, 3}));
}

TEST(FallbackClip, BoundsMayBeAbsent) {
  const auto x = vector_of<int8_t>({-9, 0, 9});
  const auto low = array<int8_t>({}, {-3}), high = array<int8_t>({}, {4});
  EXPECT_THAT(compute("Clip", {x, low, high}).as<int8_t>(), ElementsAre(-3, 0, 4));
  EXPECT_THAT(compute("Clip", {x, test::absent(), high}).as<int8_t>(), ElementsAre(-9, 0, 4));
  EXPECT_THAT(compute("Clip", {x, low}).as<int8_t>(), ElementsAre(-3, 0, 9));
  EXPECT_THAT(compute("Clip", {x, high, low}).as<int8_t>(), ElementsAre(-3, -3, -3));
  EXPECT_EQ(refusal("Clip", {x, x}).code(), StatusCode::kInvalidArgument);
}

TEST(FallbackPRelu, SlopesBroadcast) {
  const auto x = array<int32_t>({2, 2}, {-1, 2, -3, -4});
  EXPECT_THAT(compute("PRelu", {x, vector_of<int32_t>({2, 3})}).as<int32_t>(),
              ElementsAre(-2, 2, -6, -12));
  EXPECT_EQ(refusal("PRelu", {vector_of<int32_t>({1}), vector_of<int32_t>({1, 2})}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
