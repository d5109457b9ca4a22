// Block floating point of AMD's quantiser.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kName = "com.amd.quark.BFPQuantizeDequantize";

std::vector<float> rounded(const std::vector<float>& x, test::Attributes attributes) {
  return compute(kName, {vector_of(x)}, std::move(attributes)).as<float>();
}

// Seven bits of mantissa below 2^1, in steps of 2^-5 at an exponent of 1.
TEST(FallbackBlockFloatingPoint, ElementsOfABlockShareAnExponent) {
  EXPECT_THAT(rounded({3, 0.02f, -0.01f, 1.26f}, {}), ElementsAre(3, 0.03125f, 0, 1.25f));
  // The next block has an exponent of its own.
  EXPECT_THAT(rounded({2, 0.02f, 0.01f, 1}, {{"block_size", int64_t{2}}}),
              ElementsAre(2, 0.03125f, 0.015625f, 1));
}

TEST(FallbackBlockFloatingPoint, HalvesGoWhereTheModeSays) {
  const std::vector<float> x = {1, 0.0234375f, -0.0234375f, 0.0390625f, -0.0390625f};
  const auto by = [&](int64_t mode) { return rounded(x, {{"rounding_mode", mode}}); };
  EXPECT_THAT(by(0), ElementsAre(1, 0.03125f, -0.03125f, 0.046875f, -0.046875f));
  EXPECT_THAT(by(1), ElementsAre(1, 0.03125f, -0.015625f, 0.046875f, -0.03125f));
  EXPECT_THAT(by(2), ElementsAre(1, 0.03125f, -0.03125f, 0.03125f, -0.03125f));
}

TEST(FallbackBlockFloatingPoint, LargestElementsSaturate) {
  EXPECT_THAT(rounded({1.999f, -1.999f}, {}), ElementsAre(1.984375f, -1.984375f));
}

TEST(FallbackBlockFloatingPoint, KeepsWhatIsNotFinite) {
  const auto y = rounded({INFINITY, 1.26f, NAN, 1}, {});
  EXPECT_EQ(y[0], INFINITY);
  EXPECT_EQ(y[1], 1.265625f);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1);
}

TEST(FallbackBlockFloatingPoint, BlocksLieAlongTheAxis) {
  const auto x = array<float>({2, 2}, {2, 1, 0.01f, 0.01f});
  EXPECT_THAT(compute(kName, {x}, {{"axis", int64_t{0}}}).as<float>(),
              ElementsAre(2, 1, 0, 0.015625f));
  EXPECT_THAT(compute("com.vai.quantize.BFPFixNeuron", {x}, {{"axis", int64_t{-1}}}).as<float>(),
              ElementsAre(2, 1, 0.010009765625f, 0.010009765625f));
}

// MX6: four bits of mantissa, and a sub-block of two may have the exponent below.
TEST(FallbackBlockFloatingPoint, SubBlocksHaveMicroexponents) {
  const test::Attributes attributes = {{"bfp_method", std::string("to_bfp_prime")},
                                       {"bit_width", int64_t{13}},
                                       {"block_size", int64_t{16}},
                                       {"rounding_mode", int64_t{2}}};
  EXPECT_THAT(rounded({1, 0.3f, 0.55f, 0.3f, 0.05f, 0.1f}, attributes),
              ElementsAre(1, 0.25f, 0.5625f, 0.3125f, 0.0625f, 0.125f));
  const auto y = rounded({1, INFINITY, 0.5f}, attributes);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]));
}

TEST(FallbackBlockFloatingPoint, RefusesFormatsThatDoNotExist) {
  const auto x = vector_of<float>({1, 2});
  EXPECT_THAT(refusal(kName, {x}, {{"bfp_method", std::string("to_mx")}}).to_string(),
              HasSubstr("unknown bfp_method 'to_mx'"));
  EXPECT_THAT(refusal(kName, {x}, {{"bit_width", int64_t{9}}}).to_string(), HasSubstr("bit_width"));
  EXPECT_THAT(refusal(kName, {x}, {{"block_size", int64_t{0}}}).to_string(),
              HasSubstr("block_size"));
  EXPECT_THAT(refusal(kName, {x}, {{"block_size", int64_t{3}}}).to_string(),
              HasSubstr("block_size"));
  EXPECT_THAT(refusal(kName, {x}, {{"rounding_mode", int64_t{3}}}).to_string(),
              HasSubstr("rounding_mode"));
  EXPECT_THAT(refusal(kName, {x}, {{"sub_block_shift_bits", int64_t{64}}}).to_string(),
              HasSubstr("sub_block_shift_bits"));
  EXPECT_THAT(refusal(kName, {x}, {{"convert_to_bfloat_before_bfp", int64_t{1}}}).to_string(),
              HasSubstr("convert_to_bfloat_before_bfp is set"));
}

}  // namespace
}  // namespace millrace::fallback
