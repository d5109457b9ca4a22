#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// One row of four elements, sampled at the x of each point.
std::vector<float> sampled(const std::vector<float>& at, Attributes attributes) {
  const auto row = array<float>({1, 1, 1, 4}, {1, 2, 3, 4});
  std::vector<float> points;
  for (const float x : at) points.insert(points.end(), {x, 0});
  return compute("GridSample",
                 {row, array<float>({1, 1, static_cast<int64_t>(at.size()), 2}, points)},
                 std::move(attributes))
      .as<float>();
}
Attributes with_padding(const char* mode, const char* padding) {
  return {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}};
}

TEST(FallbackGridSample, KnowsTheNamesOfBothOperatorSets) {
  for (const char* mode : {"linear", "bilinear"})
    EXPECT_THAT(sampled({-0.75f, -0.5f}, with_padding(mode, "zeros")), ElementsAre(1, 1.5f));
  EXPECT_EQ(sampled({0.1f, 0.6f}, with_padding("cubic", "zeros")),
            sampled({0.1f, 0.6f}, with_padding("bicubic", "zeros")));
}

TEST(FallbackGridSample, PadsWhatLiesOutside) {
  EXPECT_THAT(sampled({-2, 2}, with_padding("nearest", "zeros")), ElementsAre(0, 0));
  EXPECT_THAT(sampled({-2, 2}, with_padding("nearest", "border")), ElementsAre(1, 4));
  // One and a half elements beyond the ends, and a full period of the reflection further.
  EXPECT_THAT(sampled({-1.75f, 1.75f, -5.75f}, with_padding("linear", "reflection")),
              ElementsAre(2, 3, 2));
}

// The coordinate of the middle, 0, is 0.5 between two elements and 1.5 between four.
TEST(FallbackGridSample, RoundsHalvesToEven) {
  const Attributes nearest = with_padding("nearest", "zeros");
  EXPECT_THAT(sampled({0}, nearest), ElementsAre(3));
  const auto in_three_dimensions = [&](const std::vector<int64_t>& dims, std::vector<float> row) {
    return compute("GridSample",
                   {array<float>(dims, row), array<float>({1, 1, 1, 1, 3}, {0, 0, 0})}, nearest)
        .as<float>();
  };
  EXPECT_THAT(in_three_dimensions({1, 1, 1, 1, 2}, {1, 2}), ElementsAre(1));
  EXPECT_THAT(in_three_dimensions({1, 1, 4, 1, 1}, {1, 2, 3, 4}), ElementsAre(3));
}

// PyTorch and ONNX Runtime pad each neighbour of a cubic filter, and do not move the coordinate.
TEST(FallbackGridSample, PadsTheNeighboursOfACubicFilter) {
  const std::vector<float> at = {-1.1f, -0.9f, 0.95f, 1.2f};
  const auto cubic = [](double t, const std::array<double, 4>& p) {
    constexpr double kA = -0.75;
    const auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    const auto far = [](double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    return static_cast<float>(p[0] * far(1 + t) + p[1] * near(t) + p[2] * near(1 - t) +
                              p[3] * far(2 - t));
  };
  // The coordinates are -0.7, -0.3, 3.4 and 3.9 in the row 1, 2, 3, 4.
  EXPECT_THAT(sampled(at, with_padding("cubic", "border")),
              Pointwise(FloatNear(1e-5f), {cubic(0.3, {1, 1, 1, 2}), cubic(0.7, {1, 1, 1, 2}),
                                           cubic(0.4, {3, 4, 4, 4}), cubic(0.9, {3, 4, 4, 4})}));
  EXPECT_THAT(sampled(at, with_padding("cubic", "reflection")),
              Pointwise(FloatNear(1e-5f), {cubic(0.3, {2, 1, 1, 2}), cubic(0.7, {2, 1, 1, 2}),
                                           cubic(0.4, {3, 4, 4, 3}), cubic(0.9, {3, 4, 4, 3})}));
}

TEST(FallbackGridSample, PadsFarCoordinatesOnTheirSide) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* mode : {"nearest", "linear", "cubic"})
    EXPECT_THAT(sampled({-infinity, -1e30f, 1e30f, infinity}, with_padding(mode, "border")),
                Pointwise(FloatNear(1e-5f), {1.0f, 1.0f, 4.0f, 4.0f}))
        << mode;
}

TEST(FallbackGridSample, TakesCoordinatesFromAnywhere) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> wild = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                                   std::numeric_limits<float>::max()};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    EXPECT_THAT(sampled(wild, with_padding(mode, "zeros")), Each(0.0f));
    EXPECT_EQ(sampled(wild, with_padding(mode, "border")).size(), 4u);
    EXPECT_EQ(sampled(wild, with_padding(mode, "reflection")).size(), 4u);
  }
}

// Coordinates stand in the order x, y, z.
TEST(FallbackGridSample, SamplesVolumes) {
  const auto volume = array<float>({1, 1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto grid = array<float>({1, 1, 1, 2, 3}, {1, -1, -1, 0, 0, 1});
  EXPECT_THAT(compute("GridSample", {volume, grid}, {{"align_corners", int64_t{1}}}).as<float>(),
              ElementsAre(1, 5.5f));
}

TEST(FallbackGridSample, RefusesAGridThatDoesNotFit) {
  const auto x = array<float>({1, 1, 1, 2}, {1, 2});
  EXPECT_THAT(refusal("GridSample", {x, array<float>({1, 1, 1, 3}, {0, 0, 0})}).message(),
              HasSubstr("does not fit"));
  EXPECT_THAT(
      refusal("GridSample", {x, array<float>({1, 1, 1, 2}, {0, 0})}, with_padding("linear", "wrap"))
          .message(),
      HasSubstr("'wrap'"));
}

const test::Array kTheta = array<float>({1, 2, 3}, {1, 0, 0.5f, 0, 2, -0.25f});

// Expected values computed with numpy.
TEST(FallbackAffineGrid, MovesCentresOrCorners) {
  const auto size = vector_of<int64_t>({1, 1, 2, 3});
  const auto centres = compute("AffineGrid", {kTheta, size});
  EXPECT_EQ(centres.dims, (Dims{1, 2, 3, 2}));
  EXPECT_THAT(centres.as<float>(),
              Pointwise(FloatNear(1e-6f), {-0.1666667f, -1.25f, 0.5f, -1.25f, 1.1666667f, -1.25f,
                                           -0.1666667f, 0.75f, 0.5f, 0.75f, 1.1666667f, 0.75f}));
  EXPECT_THAT(compute("AffineGrid", {kTheta, size}, {{"align_corners", int64_t{1}}}).as<float>(),
              Pointwise(FloatNear(1e-6f), {-0.5f, -2.25f, 0.5f, -2.25f, 1.5f, -2.25f, -0.5f, 1.75f,
                                           0.5f, 1.75f, 1.5f, 1.75f}));
}

TEST(FallbackAffineGrid, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(refusal("AffineGrid", {kTheta, vector_of<int64_t>({2, 1, 2, 3})}).message(),
              HasSubstr("does not fit"));
  EXPECT_THAT(refusal("AffineGrid", {kTheta, vector_of<int64_t>({1, 1})}).message(),
              HasSubstr("4 or 5 entries"));
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(refusal("AffineGrid", {kTheta, vector_of<int64_t>({1, 1, huge, huge})}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
