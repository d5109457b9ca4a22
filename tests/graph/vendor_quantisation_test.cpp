// Tests which of the vendor's forms is closest to a model's form, and how much that costs.
#include "graph/vendor_quantisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace millrace::graph {
namespace {

using tensor::DataType;

BoundaryQuantisation form(DataType type, double scale, int zero_point) {
  return {type, {scale, zero_point, tensor::Rounding::kNearestEven}};
}

BoundaryQuantisation vendor(int exponent) {
  return form(DataType::kInt8, std::ldexp(1.0, exponent), 0);
}

struct Case {
  const char* name;
  BoundaryQuantisation own;
  int exponent;
};

class VendorForm : public testing::TestWithParam<Case> {};

TEST_P(VendorForm, HasTheLeastMeanSquareErrorOfAllScales) {
  const BoundaryQuantisation& own = GetParam().own;
  EXPECT_EQ(vendor_form(own), vendor(GetParam().exponent));
  const double least = requantisation_error(own, vendor_form(own)).root_mean_square;
  for (int exponent = -20; exponent <= 20; ++exponent)
    EXPECT_LE(least, requantisation_error(own, vendor(exponent)).root_mean_square) << exponent;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, VendorForm,
    testing::Values(
        // Normalised pictures range from -2.13 to 2.64, as for the vendor's own resnet50.
        Case{"NormalisedPicture", form(DataType::kUint8, 0.018658, 114), -5},
        // 0 to 1: 1 saturates at 127/128, which costs less than steps of 1/64.
        Case{"Unit", form(DataType::kUint8, 1 / 255.0, 0), -7},
        // These range from 0 to 1 - 1/256, and from 0 to 255.
        Case{"Probability", form(DataType::kUint8, 1 / 256.0, 0), -7},
        Case{"Pixels", form(DataType::kUint8, 1, 0), 1},
        // The numbers are exactly those of INT8, so nothing is lost.
        Case{"Shifted", form(DataType::kUint8, 0.25, 128), -2},
        Case{"SignedShifted", form(DataType::kInt8, 0.02, -30), -5},
        Case{"NoPowerOfTwo", form(DataType::kInt8, 0.0187, 0), -5}),
    [](const auto& info) { return info.param.name; });

TEST(VendorForms, AModelInTheFormKeepsIt) {
  EXPECT_EQ(vendor_form(vendor(-5)), vendor(-5));
  EXPECT_EQ(requantisation_error(vendor(-5), vendor(-5)).largest, 0);
}

TEST(VendorForms, ErrorsAreInUnitsOfTheModelsScale) {
  // Steps of 1/256 become steps of 1/128: every other number is in the middle between two. The
  // greatest, 255/256, is rounded to 127/128, too.
  const auto error = requantisation_error(form(DataType::kUint8, 1 / 256.0, 0), vendor(-7));
  EXPECT_EQ(error.largest, 1);
  EXPECT_DOUBLE_EQ(error.root_mean_square, std::sqrt(0.5));
}

TEST(VendorForms, ScalesStayNormalNumbers) {
  for (const double scale : {double{std::numeric_limits<float>::denorm_min()}, 1e-38, 1e37,
                             double{std::numeric_limits<float>::max()}}) {
    const BoundaryQuantisation chosen = vendor_form(form(DataType::kUint8, scale, 114));
    EXPECT_TRUE(is_vendor_form(chosen)) << scale;
    const auto held = static_cast<float>(chosen.parameters.scale);
    EXPECT_TRUE(std::isnormal(held) && std::isnormal(1 / held) && std::isfinite(-128 * held));
  }
}

TEST(VendorForms, OthersAreNone) {
  EXPECT_FALSE(is_vendor_form(form(DataType::kUint8, 0.25, 0)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, 0.25, 1)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, 0.3, 0)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, 0, 0)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, -0.5, 0)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, std::numeric_limits<double>::infinity(), 0)));
  EXPECT_FALSE(is_vendor_form(form(DataType::kInt8, std::numeric_limits<double>::quiet_NaN(), 0)));
  EXPECT_FALSE(is_vendor_form(vendor(kLeastVendorExponent - 1)));
  EXPECT_FALSE(is_vendor_form(vendor(kGreatestVendorExponent + 1)));
  EXPECT_FALSE(is_vendor_form({DataType::kInt8, {0.25, 0, tensor::Rounding::kTowardZero}}));
}

}  // namespace
}  // namespace millrace::graph
