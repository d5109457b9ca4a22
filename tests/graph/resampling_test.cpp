// Compares coordinates with exact arithmetic on the fractions that scales represent.
#include "graph/resampling.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace millrace::graph {
namespace {

void expect_fraction(Fraction fraction, int64_t numerator, int64_t denominator) {
  EXPECT_EQ(fraction.numerator, numerator);
  EXPECT_EQ(fraction.denominator, denominator);
}

TEST(FractionOfAScale, IsThatOfSmallIntegersWhichItIsARoundingOf) {
  for (int64_t q = 1; q <= 200; ++q)
    for (int64_t p = 1; p <= 200; ++p) {
      const double exact = static_cast<double>(p) / static_cast<double>(q);
      for (const double stated : {exact, static_cast<double>(static_cast<float>(exact))}) {
        const Fraction fraction = fraction_of(stated);
        EXPECT_EQ(fraction.numerator * q, fraction.denominator * p) << p << " / " << q;
      }
    }
}

TEST(FractionOfAScale, IsTheNumberItselfWhereThereIsNone) {
  for (const double scale : {0.1234567, 3.1415927, double{1e-7F}, 1e9 + 0.5, std::ldexp(1.0, -40)})
    EXPECT_EQ(fraction_of(scale).value(), scale);
  EXPECT_GT(fraction_of(1e-300).denominator, 0);
  EXPECT_GT(fraction_of(1e300).numerator, 0);
}

TEST(FractionOfAScale, IsTheRatioOfTheSizesWhereItCanBe) {
  expect_fraction(fraction_of(static_cast<float>(7001.0 / 9973), 9973, 7001), 7001, 9973);
  expect_fraction(fraction_of(0.33F, 20, 6), 33, 100);
}

TEST(ScaledSize, IsRoundedDownAfterAnExactProduct) {
  EXPECT_EQ(scaled_size(10, fraction_of(0.7F)), 7);  // 0.7f is less than 0.7
  EXPECT_EQ(scaled_size(5, fraction_of(0.3F)), 1);
  EXPECT_EQ(scaled_size(4, fraction_of(2.3F)), 9);
}

TEST(Position, OfElementsWhoseCoordinateIsHalfAndWhole) {
  // (4 + 1/2) / 0.3 - 1/2 = 14.5
  const Position half = half_pixel_position(fraction_of(0.3F), 4);
  EXPECT_EQ(half.value(), 14.5);
  EXPECT_EQ(nearest_index(NearestMode::kRoundPreferCeil, half), 15);
  EXPECT_EQ(nearest_index(NearestMode::kRoundPreferFloor, half), 14);
  const Position whole = asymmetric_position(fraction_of(0.3F), 3);
  EXPECT_EQ(whole.value(), 10);
  for (const NearestMode mode : {NearestMode::kFloor, NearestMode::kCeil,
                                 NearestMode::kRoundPreferFloor, NearestMode::kRoundPreferCeil})
    EXPECT_EQ(nearest_index(mode, whole), 10);
}

TEST(Position, IsRoundedDownBelowZero) {
  const Position position = half_pixel_position({4, 1}, 0);  // 1/8 - 1/2
  EXPECT_EQ(position.below, -1);
  EXPECT_EQ(position.rest, 0.625);
  EXPECT_EQ(nearest_index(NearestMode::kCeil, position), 0);
}

TEST(Position, OfAlignedCorners) {
  EXPECT_EQ(aligned_position({6, 20}, 20, 5).value(), 19);
  EXPECT_EQ(aligned_position({1, 20}, 20, 0).value(), 0);
  EXPECT_DOUBLE_EQ(aligned_position(fraction_of(2.3F), 4, 3).value(), 3 * 3 / 8.2);
}

}  // namespace
}  // namespace millrace::graph
