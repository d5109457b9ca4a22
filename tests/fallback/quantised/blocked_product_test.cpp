// MatMulNBits.
#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::array;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMatMulNBits = "com.microsoft.MatMulNBits";

test::Attributes attributes(int64_t depth, int64_t block = 2, int64_t bits = 4) {
  return {{"K", depth}, {"N", int64_t{2}}, {"bits", bits}, {"block_size", block}};
}

// Two columns of two blocks, the second of which has one weight: 9, 10, 4 and 8, 0, 15.
const test::Array kX = array<float>({1, 3}, {1, 10, 100});
const test::Array kWeights = array<uint8_t>({2, 2, 1}, {0xa9, 0x04, 0x08, 0x0f});
const test::Array kScales = vector_of<float>({1, .5f, 2, 10});

// Less 8: (1, 2, -4 / 2) and (0, -8 * 2, 7 * 10).
TEST(FallbackMatMulNBits, ScalesTheDistanceFromEight) {
  EXPECT_THAT(test::compute(kMatMulNBits, {kX, kWeights, kScales}, attributes(3)).as<float>(),
              ElementsAre(-179, 6840));
}

// Less 9 and 4, 8 and 15: (0, 1, 0) and (0, -8 * 2, 0).
TEST(FallbackMatMulNBits, ScalesTheDistanceFromZeroPoints) {
  const auto zeros = vector_of<uint8_t>({0x49, 0xf8});
  EXPECT_THAT(
      test::compute(kMatMulNBits, {kX, kWeights, kScales, zeros}, attributes(3)).as<float>(),
      ElementsAre(10, -160));
}

TEST(FallbackMatMulNBits, KeepsTheLeadingDimensions) {
  const auto x = array<float>({2, 1, 3}, {1, 10, 100, 0, 0, 1});
  const test::Array y = test::compute(kMatMulNBits, {x, kWeights, kScales}, attributes(3));
  EXPECT_THAT(y.dims, ElementsAre(2, 1, 2));
  EXPECT_THAT(y.as<float>(), ElementsAre(-179, 6840, -2, 70));
}

TEST(FallbackMatMulNBits, RefusesWhatDoesNotFit) {
  const auto reason = [](const std::vector<test::Array>& operands, const test::Attributes& with) {
    return refusal(kMatMulNBits, operands, with).message();
  };
  EXPECT_THAT(reason({kX, kWeights, kScales}, attributes(4)), HasSubstr("must be K, 4"));
  EXPECT_THAT(reason({kX, kWeights, kScales}, attributes(-3)), HasSubstr("out of range"));
  EXPECT_THAT(reason({kX, kWeights, kScales}, attributes(3, 3)), HasSubstr("must be even"));
  EXPECT_THAT(reason({kX, kWeights, kScales}, attributes(3, 2, 8)), HasSubstr("4 bits"));
  EXPECT_THAT(reason({kX, kWeights, kScales}, attributes(3, 4)), HasSubstr("input 2"));
  EXPECT_THAT(reason({kX, kScales, kScales}, attributes(3)), HasSubstr("input 1"));
  EXPECT_THAT(reason({kX, kWeights, kScales, vector_of<uint8_t>({1})}, attributes(3)),
              HasSubstr("input 3"));
}

}  // namespace
}  // namespace millrace::fallback
