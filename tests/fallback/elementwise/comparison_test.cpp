#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::booleans;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FallbackComparison, IsFalseForNaN) {
  const auto a = vector_of<float>({1, 2, kNaN}), b = vector_of<float>({2, 2, 2});
  EXPECT_THAT(compute("Less", {a, b}).as<uint8_t>(), ElementsAre(1, 0, 0));
  EXPECT_THAT(compute("LessOrEqual", {a, b}).as<uint8_t>(), ElementsAre(1, 1, 0));
  EXPECT_THAT(compute("Greater", {a, b}).as<uint8_t>(), ElementsAre(0, 0, 0));
  EXPECT_THAT(compute("GreaterOrEqual", {a, b}).as<uint8_t>(), ElementsAre(0, 1, 0));
  EXPECT_THAT(compute("Equal", {a, a}).as<uint8_t>(), ElementsAre(1, 1, 0));
}

TEST(FallbackComparison, GivesBooleans) {
  EXPECT_EQ(compute("Equal", {vector_of<int64_t>({1}), vector_of<int64_t>({1})}).type,
            DataType::kBoolean);
}

TEST(FallbackLogic, AnyByteButZeroIsTrue) {
  const auto a = booleans({0, 2, 0, 255}), b = booleans({0, 0, 1, 1});
  EXPECT_THAT(compute("And", {a, b}).as<uint8_t>(), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(compute("Or", {a, b}).as<uint8_t>(), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(compute("Xor", {a, b}).as<uint8_t>(), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(compute("Equal", {a, b}).as<uint8_t>(), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(compute("Not", {a}).as<uint8_t>(), ElementsAre(1, 0, 1, 0));
}

TEST(FallbackClassification, TellsInfinitiesApart) {
  const auto x = vector_of<float>({1, kInfinity, -kInfinity, kNaN});
  EXPECT_THAT(compute("IsNaN", {x}).as<uint8_t>(), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(compute("IsInf", {x}).as<uint8_t>(), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(compute("IsInf", {x}, {{"detect_negative", int64_t{0}}}).as<uint8_t>(),
              ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(compute("IsInf", {x}, {{"detect_positive", int64_t{0}}}).as<uint8_t>(),
              ElementsAre(0, 0, 1, 0));
}

TEST(FallbackWhere, BroadcastsAllThree) {
  const auto result =
      compute("Where", {booleans({1, 0}), array<int64_t>({2, 1}, {1, 2}), array<int64_t>({}, {9})});
  EXPECT_EQ(result.dims, (Dims{2, 2}));
  EXPECT_THAT(result.as<int64_t>(), ElementsAre(1, 9, 2, 9));
}

TEST(FallbackWhere, TakesOneTypeToChooseFrom) {
  EXPECT_THAT(
      refusal("Where", {booleans({1}), vector_of<float>({1}), vector_of<int64_t>({1})}).message(),
      HasSubstr("FLOAT32 and INT64"));
  const auto half = array<int8_t>({1}, {1}, DataType::kFp16);
  EXPECT_EQ(refusal("Where", {booleans({1}), half, half}).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::fallback
