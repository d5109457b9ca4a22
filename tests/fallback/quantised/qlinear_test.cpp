#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array scale(float value) {
  return array<float>({}, {value});
}
Array zero(uint8_t value) {
  return array<uint8_t>({}, {value});
}
Array zero(int8_t value) {
  return array<int8_t>({}, {value});
}

constexpr uint8_t kTen = 10, kNone = 0;

TEST(FallbackQLinear, AddsWhatTheBytesStandFor) {
  const auto a = array<uint8_t>({2, 1}, {12, 20}), b = vector_of<uint8_t>({1, 200});
  const auto sum = compute("com.microsoft.QLinearAdd", {a, scale(0.5f), zero(kTen), b, scale(2),
                                                        zero(kNone), scale(1), zero(kTen)});
  EXPECT_EQ(sum.dims, (Dims{2, 2}));
  EXPECT_THAT(sum.as<uint8_t>(), ElementsAre(13, 255, 17, 255));
}

TEST(FallbackQLinear, MultipliesSignedBytes) {
  const auto a = vector_of<int8_t>({-4, 4}), b = vector_of<int8_t>({3, 100});
  EXPECT_THAT(compute("com.microsoft.QLinearMul",
                      {a, scale(1), absent(), b, scale(1), absent(), scale(2), zero(int8_t{1})})
                  .as<int8_t>(),
              ElementsAre(-5, 127));
}

TEST(FallbackQLinear, NeedsParametersOfTheRightType) {
  const auto a = vector_of<uint8_t>({1});
  EXPECT_THAT(refusal("com.microsoft.QLinearAdd", {a, scale(1), zero(int8_t{0}), a, scale(1),
                                                   zero(kNone), scale(1), zero(kNone)})
                  .message(),
              HasSubstr("input 2 must be one UINT8"));
  EXPECT_THAT(refusal("com.microsoft.QLinearAdd",
                      {a, a, zero(kNone), a, scale(1), zero(kNone), scale(1), zero(kNone)})
                  .message(),
              HasSubstr("input 1 must be one FLOAT32"));
}

TEST(FallbackQLinear, FunctionsOfOneOperand) {
  const auto x = vector_of<uint8_t>({0, 128, 255});
  EXPECT_THAT(compute("com.microsoft.QLinearSigmoid",
                      {x, scale(1), zero(uint8_t{128}), scale(1.0f / 256), zero(kNone)})
                  .as<uint8_t>(),
              ElementsAre(0, 128, 255));
  EXPECT_THAT(
      compute("com.microsoft.QLinearLeakyRelu",
              {x, scale(1), zero(uint8_t{128}), scale(1), zero(uint8_t{100})}, {{"alpha", 0.5f}})
          .as<uint8_t>(),
      ElementsAre(36, 100, 227));
}

TEST(FallbackQLinear, AveragesWithChannelsSecondOrLast) {
  const auto x = array<uint8_t>({1, 2, 1, 2}, {1, 3, 10, 30});
  const std::vector<Array> operands = {x, scale(1), zero(kNone), scale(0.5f), zero(kNone)};
  const char* const name = "com.microsoft.QLinearGlobalAveragePool";
  EXPECT_THAT(compute(name, operands).as<uint8_t>(), ElementsAre(4, 40));
  const auto last = compute(name, operands, {{"channels_last", int64_t{1}}});
  EXPECT_EQ(last.dims, (Dims{1, 1, 1, 2}));
  EXPECT_THAT(last.as<uint8_t>(), ElementsAre(11, 33));
}

TEST(FallbackQLinear, ConcatenatesPartsOfDifferentScales) {
  const auto a = array<uint8_t>({2, 1}, {1, 2}), b = array<uint8_t>({2, 2}, {10, 20, 30, 40});
  const std::vector<Array> operands = {scale(1),    zero(kNone), a,           scale(10),
                                       zero(kNone), b,           scale(0.1f), zero(kNone)};
  const auto joined = compute("com.microsoft.QLinearConcat", operands, {{"axis", int64_t{1}}});
  EXPECT_EQ(joined.dims, (Dims{2, 3}));
  EXPECT_THAT(joined.as<uint8_t>(), ElementsAre(10, 1, 2, 20, 3, 4));
  EXPECT_THAT(refusal("com.microsoft.QLinearConcat", operands, {{"axis", int64_t{0}}}).message(),
              HasSubstr("do not fit"));
}

}  // namespace
}  // namespace millrace::fallback
