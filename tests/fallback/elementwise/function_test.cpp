#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;

constexpr int8_t kSmallest = std::numeric_limits<int8_t>::min();

TEST(FallbackFunction, OfTheSmallestIntegerWrapsAround) {
  const auto x = vector_of<int8_t>({-3, 0, 5, kSmallest});
  EXPECT_THAT(compute("Abs", {x}).as<int8_t>(), ElementsAre(3, 0, 5, kSmallest));
  EXPECT_THAT(compute("Neg", {x}).as<int8_t>(), ElementsAre(3, 0, -5, kSmallest));
  EXPECT_THAT(compute("Sign", {x}).as<int8_t>(), ElementsAre(-1, 0, 1, -1));
  EXPECT_THAT(compute("Relu", {x}).as<int8_t>(), ElementsAre(0, 0, 5, 0));
  EXPECT_THAT(compute("BitwiseNot", {x}).as<int8_t>(), ElementsAre(2, -1, -6, 127));
}

TEST(FallbackFunction, GeluHasTwoForms) {
  const auto x = vector_of<float>({-1, 0, 2});
  const auto exact = ElementsAre(FloatNear(-0.158655f, 1e-5f), 0, FloatNear(1.954500f, 1e-5f));
  EXPECT_THAT(compute("Gelu", {x}).as<float>(), exact);
  EXPECT_THAT(compute("com.microsoft.Gelu", {x}).as<float>(), exact);
  EXPECT_THAT(compute("Gelu", {x}, {{"approximate", std::string("tanh")}}).as<float>(),
              ElementsAre(FloatNear(-0.158808f, 1e-5f), 0, FloatNear(1.954598f, 1e-5f)));
  EXPECT_EQ(refusal("Gelu", {x}, {{"approximate", std::string("guess")}}).code(),
            StatusCode::kInvalidArgument);
}

TEST(FallbackFunction, SwishIsGatedByItsSigmoid) {
  const auto x = vector_of<double>({-2, 0, 1});
  EXPECT_THAT(compute("Swish", {x}).as<double>(),
              ElementsAre(::testing::DoubleNear(-0.238405844, 1e-8), 0,
                          ::testing::DoubleNear(0.731058579, 1e-8)));
  EXPECT_THAT(compute("Swish", {x}, {{"alpha", 2.0f}}).as<double>()[2],
              ::testing::DoubleNear(0.880797078, 1e-8));
}

TEST(FallbackFunction, AttributesHaveTheStandardsDefaults) {
  const auto x = vector_of<float>({-2, 0.25f, 2});
  EXPECT_THAT(compute("Celu", {x}).as<float>(), ElementsAre(FloatEq(-0.86466472f), 0.25f, 2));
  EXPECT_THAT(compute("ThresholdedRelu", {x}).as<float>(), ElementsAre(0, 0, 2));
  EXPECT_THAT(compute("Shrink", {x}).as<float>(), ElementsAre(-2, 0, 2));
  EXPECT_THAT(compute("Shrink", {x}, {{"bias", 1.5f}, {"lambd", 1.0f}}).as<float>(),
              ElementsAre(-0.5f, 0, 0.5f));
}

TEST(FallbackShrink, KeepsIntegersExactAndSaturates) {
  const auto x = vector_of<int32_t>({16777217, -16777217, 0});
  EXPECT_THAT(compute("Shrink", {x}).as<int32_t>(), ElementsAre(16777217, -16777217, 0));
  constexpr int32_t kHigh = std::numeric_limits<int32_t>::max();
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(compute("Shrink", {x}, {{"bias", -1e30f}}).as<int32_t>(),
              ElementsAre(kHigh, kLow, 0));
}

}  // namespace
}  // namespace millrace::fallback
