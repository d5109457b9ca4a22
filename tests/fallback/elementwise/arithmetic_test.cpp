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

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(FallbackArithmetic, BroadcastsBothOperands) {
  const auto sum = compute(
      "Add", {array<int64_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6}), array<int64_t>({2, 1}, {10, 20})});
  EXPECT_EQ(sum.dims, (Dims{2, 2, 3}));
  EXPECT_THAT(sum.as<int64_t>(), ElementsAre(11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26));
}

TEST(FallbackArithmetic, TakesScalarsAndEmptyTensors) {
  EXPECT_THAT(compute("Mul", {array<float>({}, {3}), array<float>({}, {4})}).as<float>(),
              ElementsAre(12));
  EXPECT_THAT(compute("Sub", {vector_of<int8_t>({1, 2}), array<int8_t>({}, {3})}).as<int8_t>(),
              ElementsAre(-2, -1));
}

TEST(FallbackArithmetic, IntegersWrapAround) {
  EXPECT_THAT(
      compute("Add", {vector_of<int64_t>({kSmallest}), vector_of<int64_t>({-1})}).as<int64_t>(),
      ElementsAre(std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(compute("Mul", {vector_of<uint8_t>({200}), vector_of<uint8_t>({2})}).as<uint8_t>(),
              ElementsAre(144));
}

TEST(FallbackArithmetic, NoDivisionTraps) {
  const auto a = vector_of<int64_t>({7, -7, 5, kSmallest});
  const auto b = vector_of<int64_t>({2, 2, 0, -1});
  EXPECT_THAT(compute("Div", {a, b}).as<int64_t>(), ElementsAre(3, -3, 0, kSmallest));
  EXPECT_THAT(compute("Mod", {a, b}).as<int64_t>(), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(compute("Mod", {a, b}, {{"fmod", int64_t{1}}}).as<int64_t>(),
              ElementsAre(1, -1, 0, 0));
}

TEST(FallbackArithmetic, ModuloTakesTheSignOfTheDivisor) {
  EXPECT_THAT(compute("Mod", {vector_of<int32_t>({-4, 7, 5, 4, -7, 8}),
                              vector_of<int32_t>({2, -3, 8, -2, 3, 5})})
                  .as<int32_t>(),
              ElementsAre(0, -2, 5, 0, 2, 3));
  EXPECT_THAT(refusal("Mod", {vector_of<float>({1}), vector_of<float>({2})}).message(),
              HasSubstr("fmod=1"));
}

TEST(FallbackArithmetic, ShiftsByTheWholeWidthGiveZero) {
  const auto x = vector_of<uint8_t>({16, 255, 1, 255}), by = vector_of<uint8_t>({1, 4, 8, 200});
  EXPECT_THAT(compute("BitShift", {x, by}, {{"direction", std::string("RIGHT")}}).as<uint8_t>(),
              ElementsAre(8, 15, 0, 0));
  EXPECT_THAT(compute("BitShift", {x, by}, {{"direction", std::string("LEFT")}}).as<uint8_t>(),
              ElementsAre(32, 240, 0, 0));
  EXPECT_THAT(refusal("BitShift", {x, by}).message(), HasSubstr("direction"));
}

TEST(FallbackArithmetic, ExtremesKeepNaN) {
  const auto a = vector_of<float>({1, kNaN, 3}), b = vector_of<float>({2, 1, kNaN});
  for (const char* name : {"Min", "Max"}) {
    const auto result = compute(name, {a, b}).as<float>();
    EXPECT_FALSE(std::isnan(result[0])) << name;
    EXPECT_TRUE(std::isnan(result[1]) && std::isnan(result[2])) << name;
  }
}

TEST(FallbackArithmetic, ListsOfOperandsBroadcastOneAfterTheOther) {
  const auto sum = compute(
      "Sum", {array<float>({2, 1}, {1, 2}), vector_of<float>({10, 20}), array<float>({}, {100})});
  EXPECT_EQ(sum.dims, (Dims{2, 2}));
  EXPECT_THAT(sum.as<float>(), ElementsAre(111, 121, 112, 122));
  EXPECT_THAT(compute("Mean", {vector_of<float>({1, 5}), vector_of<float>({3, 6})}).as<float>(),
              ElementsAre(2, 5.5));
  EXPECT_THAT(compute("Max", {vector_of<int8_t>({-3})}).as<int8_t>(), ElementsAre(-3));
}

TEST(FallbackArithmetic, PowersOfIntegersAreExact) {
  const auto power =
      compute("Pow", {vector_of<int64_t>({3, -2, 7, 2}), vector_of<int64_t>({39, 3, 0, -1})});
  EXPECT_THAT(power.as<int64_t>(), ElementsAre(4052555153018976267, -8, 1, 0));
}

TEST(FallbackArithmetic, NegativePowersOfIntegersAreTruncated) {
  EXPECT_THAT(compute("Pow", {vector_of<int64_t>({-1, -1, 1, 0, 2, -2}),
                              vector_of<int64_t>({-1, -2, -3, -1, -1, -2})})
                  .as<int64_t>(),
              ElementsAre(-1, 1, 1, 0, 0, 0));
  EXPECT_THAT(
      compute("Pow", {vector_of<uint8_t>({255, 1}), vector_of<int32_t>({-1, -1})}).as<uint8_t>(),
      ElementsAre(0, 1));
}

TEST(FallbackArithmetic, PowersThatDoNotFitAreDefined) {
  EXPECT_THAT(
      compute("Pow", {vector_of<int32_t>({10, 2}), vector_of<float>({20, 0.5})}).as<int32_t>(),
      ElementsAre(0, 1));
}

TEST(FallbackArithmetic, RefusesOperandsOfDifferentTypes) {
  EXPECT_THAT(refusal("Add", {vector_of<int64_t>({1}), vector_of<int32_t>({1})}).message(),
              HasSubstr("INT64 and INT32"));
}

}  // namespace
}  // namespace millrace::fallback
