#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Array picture() {
  std::vector<float> elements(16);
  std::iota(elements.begin(), elements.end(), 1.0f);
  return array<float>({1, 1, 4, 4}, elements);
}
const Array kRow = vector_of<float>({1, 2, 3, 4});

Array by_scales(const Array& x, const std::vector<float>& scales, Attributes attributes) {
  return compute("Resize", {x, absent(), vector_of<float>(scales)}, std::move(attributes));
}
Array to_sizes(const Array& x, const std::vector<int64_t>& sizes, Attributes attributes) {
  return compute("Resize", {x, absent(), absent(), vector_of<int64_t>(sizes)},
                 std::move(attributes));
}
Attributes mode(const char* name) {
  return {{"mode", std::string(name)}};
}

// Expected values computed with numpy from the weights that the standard describes.
TEST(FallbackResize, FiltersBeforeItShrinks) {
  const auto shrunk = [&](const char* name) {
    return by_scales(picture(), {1, 1, 0.6f, 0.6f},
                     {{"antialias", int64_t{1}}, {"mode", std::string(name)}})
        .as<float>();
  };
  EXPECT_THAT(shrunk("linear"), Pointwise(FloatNear(1e-5f), {2.875f, 4.5f, 9.375f, 11.0f}));
  EXPECT_THAT(shrunk("cubic"),
              Pointwise(FloatNear(1e-5f), {2.5180721f, 4.2858863f, 9.5893283f, 11.3571424f}));
}

// Resizes 20 to 6 elements, with coordinates at halves: the scale is 3 / 10, not 0.3f.
TEST(FallbackResize, ChoosesByExactCoordinates) {
  std::vector<float> row(20);
  std::iota(row.begin(), row.end(), 0.0f);
  const auto nearest = [](const char* coordinates, const char* rounding) {
    return Attributes{{"coordinate_transformation_mode", std::string(coordinates)},
                      {"mode", std::string("nearest")},
                      {"nearest_mode", std::string(rounding)}};
  };
  const auto expect = [&](const Attributes& attributes, const std::vector<float>& expected) {
    EXPECT_EQ(by_scales(vector_of<float>(row), {0.3f}, attributes).as<float>(), expected);
    EXPECT_EQ(to_sizes(vector_of<float>(row), {6}, attributes).as<float>(), expected);
  };
  for (const char* coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"}) {
    expect(nearest(coordinates, "round_prefer_ceil"), {1, 5, 8, 11, 15, 18});
    expect(nearest(coordinates, "round_prefer_floor"), {1, 4, 8, 11, 14, 18});
  }
  expect(nearest("asymmetric", "floor"), {0, 3, 6, 10, 13, 16});
  expect(nearest("asymmetric", "ceil"), {0, 4, 7, 10, 14, 17});
  // 5 / 3 * (2 * i + 1)
  expect(nearest("tf_half_pixel_for_nn", "floor"), {1, 5, 8, 11, 15, 18});
  // 19 / 5 * i
  expect(nearest("align_corners", "ceil"), {0, 4, 8, 12, 16, 19});
}

TEST(FallbackResize, AScaleStandsForItsFraction) {
  const auto grown = by_scales(vector_of<float>(std::vector<float>(10)), {0.7f}, mode("nearest"));
  EXPECT_EQ(grown.dims, (Dims{7}));
}

TEST(FallbackResize, CentresWhatARoundedSizeLeavesOver) {
  const auto grown =
      by_scales(kRow, {2.3f},
                {{"coordinate_transformation_mode", std::string("half_pixel_symmetric")},
                 {"mode", std::string("linear")}});
  EXPECT_THAT(grown.as<float>(),
              Pointwise(FloatNear(1e-5f), {1.0f, 1.1956521f, 1.6304348f, 2.0652174f, 2.5f,
                                           2.9347826f, 3.3695652f, 3.8043479f, 4.0f}));
}

TEST(FallbackResize, KeepsTheAspectRatio) {
  const auto dims = [&](const char* policy) {
    return to_sizes(array<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), {7, 8},
                    {{"keep_aspect_ratio_policy", std::string(policy)}})
        .dims;
  };
  EXPECT_EQ(dims("stretch"), (Dims{7, 8}));
  EXPECT_EQ(dims("not_larger"), (Dims{4, 8}));
  EXPECT_EQ(dims("not_smaller"), (Dims{7, 14}));
}

TEST(FallbackResize, ResizesTheAxesThatAreNamed) {
  const auto y = to_sizes(array<uint8_t>({2, 2}, {1, 2, 3, 4}), {4}, {{"axes", Dims{-1}}});
  EXPECT_EQ(y.dims, (Dims{2, 4}));
  EXPECT_THAT(y.as<uint8_t>(), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(FallbackResize, KeepsIntegersWithinTheirType) {
  const auto steep = vector_of<uint8_t>({0, 0, 255, 255});
  const auto y = by_scales(steep, {2}, mode("cubic")).as<uint8_t>();
  EXPECT_EQ(y[2], 0);    // below the lowest
  EXPECT_EQ(y[5], 255);  // above the highest
}

TEST(FallbackResize, CropsARegionAndFillsWhatIsOutside) {
  const auto y = compute("Resize", {kRow, vector_of<float>({0.5f, 1.5f}), vector_of<float>({1})},
                         {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                          {"extrapolation_value", -1.0f},
                          {"mode", std::string("linear")}});
  EXPECT_THAT(y.as<float>(), ElementsAre(2.5f, 3.5f, -1, -1));
}

TEST(FallbackResize, AlignsCornersOfTheSizeBeforeItIsRounded) {
  const auto y = by_scales(kRow, {0.6f},
                           {{"coordinate_transformation_mode", std::string("align_corners")},
                            {"mode", std::string("linear")}});
  EXPECT_THAT(y.as<float>(), Pointwise(FloatNear(1e-5f), {1.0f, 3.142857f}));
}

TEST(FallbackResize, HasTheFormsOfEarlierOperatorSets) {
  EXPECT_THAT(compute("Upsample", {vector_of<float>({1, 2})}, {{"scales", std::vector<float>{2}}})
                  .as<float>(),
              ElementsAre(1, 1, 2, 2));
  const auto both = compute(
      "Resize", {array<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), vector_of<float>({2, 0.5f})});
  EXPECT_THAT(both.as<float>(), ElementsAre(1, 3, 1, 3, 5, 7, 5, 7));
}

TEST(FallbackResize, RefusesScalesAndSizesThatAreNone) {
  for (const float scale : {0.0f, -1.0f, 1e30f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()})
    EXPECT_THAT(refusal("Resize", {kRow, absent(), vector_of<float>({scale})}).message(),
                HasSubstr("not valid"));
  for (const int64_t size : {int64_t{-1}, std::numeric_limits<int64_t>::max()})
    EXPECT_THAT(refusal("Resize", {kRow, absent(), absent(), vector_of<int64_t>({size})}).message(),
                HasSubstr("out of range"));
  EXPECT_THAT(refusal("Resize", {kRow, absent(), vector_of<float>({1, 1})}).message(),
              HasSubstr("2 scales; expected 1"));
  EXPECT_THAT(refusal("Resize", {kRow, absent(), absent()}).message(), HasSubstr("neither"));
  EXPECT_THAT(refusal("Resize", {kRow, absent(), vector_of<float>({2})}, mode("spline")).message(),
              HasSubstr("'spline'"));
}

}  // namespace
}  // namespace millrace::fallback
