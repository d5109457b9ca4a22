#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Array picture() {
  std::vector<float> elements(16);
  std::iota(elements.begin(), elements.end(), 1.0f);
  return array<float>({1, 1, 4, 4}, elements);
}
const Array kRow = array<float>({1, 1, 4}, {1, -2, 3, -4});

TEST(FallbackAveragePool, DilatesItsWindow) {
  EXPECT_THAT(
      compute("AveragePool", {picture()}, {{"dilations", Dims{2, 2}}, {"kernel_shape", Dims{2, 2}}})
          .as<float>(),
      ElementsAre(6, 7, 10, 11));
}

// One tap of the last window hangs over the padding: it counts for nothing.
TEST(FallbackAveragePool, CountsPaddingButNotWhatHangsOverIt) {
  const auto pooled = [](int64_t include) {
    return compute("AveragePool", {array<float>({1, 1, 4}, {1, 2, 3, 4})},
                   {{"ceil_mode", int64_t{1}},
                    {"count_include_pad", include},
                    {"kernel_shape", Dims{3}},
                    {"pads", Dims{1, 0}},
                    {"strides", Dims{3}}})
        .as<float>();
  };
  EXPECT_THAT(pooled(0), ElementsAre(1.5f, 3.5f));
  EXPECT_THAT(pooled(1), ElementsAre(1, 3.5f));
}

TEST(FallbackMaxPool, GivesIndicesInEitherOrder) {
  const auto x = array<float>({1, 2, 2, 2}, {1, 5, 3, 2, 0, 0, 9, 0});
  const auto indices = [&](int64_t order) {
    return compute_all("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}, {"storage_order", order}},
                       2)[1]
        .as<int64_t>();
  };
  EXPECT_THAT(indices(0), ElementsAre(1, 6));
  EXPECT_THAT(indices(1), ElementsAre(2, 5));
}

TEST(FallbackMaxPool, TakesIntegers) {
  EXPECT_THAT(compute("MaxPool", {array<int8_t>({1, 1, 3}, {-128, -128, -7})},
                      {{"kernel_shape", Dims{2}}, {"pads", Dims{1, 0}}})
                  .as<int8_t>(),
              ElementsAre(-128, -128, -7));
}

TEST(FallbackMaxPool, NamesAnElementOfTheWindowThatIsTheLowest) {
  const auto results = compute_all("MaxPool", {array<int8_t>({1, 1, 4}, {-128, -128, -128, -128})},
                                   {{"kernel_shape", Dims{2}}, {"strides", Dims{2}}}, 2);
  EXPECT_THAT(results[1].as<int64_t>(), ElementsAre(0, 2));
}

TEST(FallbackMaxPool, RefusesWindowsWithoutElements) {
  EXPECT_THAT(
      refusal(
          "MaxPool", {array<float>({1, 1, 0, 3}, {})},
          {{"kernel_shape", Dims{2, 1}}, {"pads", Dims{1, 0, 1, 0}}, {"storage_order", int64_t{1}}},
          2)
          .message(),
      HasSubstr("only padding"));
}

TEST(FallbackLpPool, TakesAnyOrder) {
  const auto pooled = [](int64_t p) {
    return compute("LpPool", {kRow}, {{"kernel_shape", Dims{2}}, {"p", p}, {"strides", Dims{2}}})
        .as<float>();
  };
  EXPECT_THAT(pooled(1), ElementsAre(3, 7));
  EXPECT_THAT(pooled(2), Pointwise(FloatNear(1e-6f), {2.2360680f, 5.0f}));
  EXPECT_THAT(pooled(3), Pointwise(FloatNear(1e-6f), {2.0800838f, 4.4979414f}));
  EXPECT_THAT(compute("GlobalLpPool", {kRow}, {{"p", int64_t{1}}}).as<float>(), ElementsAre(10));
  EXPECT_THAT(refusal("LpPool", {kRow}, {{"kernel_shape", Dims{2}}, {"p", int64_t{0}}}).message(),
              HasSubstr("must be positive"));
}

TEST(FallbackPooling, RefusesWindowsThatNoInputNeeds) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (const Dims& kernel : {Dims{-1}, Dims{0}, Dims{5}, Dims{kHuge}, Dims{1, 1}, Dims{}})
      EXPECT_EQ(refusal(op, {kRow}, {{"kernel_shape", kernel}}).code(),
                StatusCode::kInvalidArgument);
    EXPECT_THAT(refusal(op, {kRow}, {{"kernel_shape", Dims{2}}, {"pads", Dims{1 << 20, 1 << 20}}})
                    .message(),
                HasSubstr("in the padding"));
    const int64_t wide = int64_t{1} << 19;
    EXPECT_THAT(refusal(op, {picture()},
                        {{"kernel_shape", Dims{wide, wide}},
                         {"pads", Dims{wide - 1, wide - 1, wide - 1, wide - 1}}})
                    .message(),
                HasSubstr("out of range"));
    EXPECT_EQ(refusal(op, {kRow}).code(), StatusCode::kInvalidArgument);
  }
}

const Attributes kHalves = {{"kernel_shape", Dims{2}}, {"strides", Dims{2}}};

TEST(FallbackMaxUnpool, PutsElementsBack) {
  const auto x = array<float>({1, 1, 2}, {5, 7});
  const auto at = [](int64_t first, int64_t second) {
    return array<int64_t>({1, 1, 2}, {first, second});
  };
  EXPECT_THAT(compute("MaxUnpool", {x, at(1, 2)}, kHalves).as<float>(), ElementsAre(0, 5, 7, 0));
  for (const int64_t index : {int64_t{-1}, int64_t{4}, kHuge})
    EXPECT_THAT(refusal("MaxUnpool", {x, at(1, index)}, kHalves).message(), HasSubstr("outside"));
  EXPECT_THAT(refusal("MaxUnpool", {x, at(1, 2), vector_of<int64_t>({1, 1, 3})}, kHalves).message(),
              HasSubstr("smaller than"));
}

// Columns of 2x1 blocks over a 3x1 image: the middle element is in both.
TEST(FallbackCol2Im, AddsWhatOverlaps) {
  const auto columns = array<float>({1, 2, 2}, {1, 2, 10, 20});
  const auto image = compute("Col2Im", {columns, vector_of<int64_t>({3}), vector_of<int64_t>({2})});
  EXPECT_EQ(image.dims, (Dims{1, 1, 3}));
  EXPECT_THAT(image.as<float>(), ElementsAre(1, 12, 20));
}

TEST(FallbackCol2Im, RefusesImagesThatItsColumnsDoNotMake) {
  const auto columns = array<float>({1, 2, 2}, {1, 2, 10, 20});
  for (const auto& [image, block] : {std::pair<Dims, Dims>{{4}, {2}},
                                     {{3}, {3}},
                                     {{-3}, {2}},
                                     {{kHuge}, {2}},
                                     {{}, {}},
                                     {{3}, {kHuge}},
                                     {{3, 3}, {2}}})
    EXPECT_EQ(
        refusal("Col2Im", {columns, vector_of<int64_t>(image), vector_of<int64_t>(block)}).code(),
        StatusCode::kInvalidArgument);
}

const Array kSquare = array<float>({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
const Array kKernel = array<float>({1, 1, 2, 2}, {1, 2, 3, 4});

// Expected values computed with numpy: the first tap is moved by half an element in both
// directions, the last one to the left by 2.25, and the second one counts half.
TEST(FallbackDeformConv, MovesAndWeighsItsTaps) {
  std::vector<float> offset(8 * 4, 0.0f), mask(4 * 4, 1.0f);
  for (size_t position = 0; position < 4; ++position) {
    offset[0 * 4 + position] = offset[1 * 4 + position] = 0.5f;
    offset[7 * 4 + position] = -2.25f;
    mask[1 * 4 + position] = 0.5f;
  }
  const auto y = compute("DeformConv", {kSquare, kKernel, array<float>({1, 8, 2, 2}, offset),
                                        vector_of<float>({10}), array<float>({1, 4, 2, 2}, mask)});
  EXPECT_EQ(y.dims, (Dims{1, 1, 2, 2}));
  EXPECT_THAT(y.as<float>(), Pointwise(FloatNear(1e-4f), {22.0f, 36.0f, 37.0f, 60.0f}));
}

TEST(FallbackDeformConv, TakesOffsetsFromAnywhere) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float wild : {infinity, -infinity, 1e30f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THAT(compute("DeformConv", {kSquare, kKernel,
                                       array<float>({1, 8, 2, 2}, std::vector<float>(32, wild))})
                    .as<float>(),
                ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(refusal("DeformConv",
                      {kSquare, kKernel, array<float>({1, 8, 1, 2}, std::vector<float>(16, 0))})
                  .message(),
              HasSubstr("[1,8,2,2]"));
  EXPECT_THAT(refusal("DeformConv",
                      {kSquare, kKernel, array<float>({1, 8, 2, 2}, std::vector<float>(32, 0))},
                      {{"offset_group", int64_t{2}}})
                  .message(),
              HasSubstr("offset_group"));
}

}  // namespace
}  // namespace millrace::fallback
