#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Array kSquare = array<float>({2, 2}, {1, 2, 3, 4});

TEST(FallbackIndices, CountFromTheEndWhenNegative) {
  EXPECT_THAT(
      compute("GatherElements", {kSquare, array<int64_t>({2, 1}, {-1, 0})}, {{"axis", int64_t{1}}})
          .as<float>(),
      ElementsAre(2, 3));
  EXPECT_THAT(compute("GatherND", {kSquare, array<int64_t>({2, 2}, {0, -1, -1, 0})}).as<float>(),
              ElementsAre(2, 3));
}

// No tensor of indices makes an operator touch an element outside of the data.
TEST(FallbackIndices, OutOfRangeAreAnError) {
  for (const int64_t index : {int64_t{2}, int64_t{-3}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    const auto element = array<int64_t>({1, 1}, {index});
    const auto update = array<float>({1, 1}, {9}), row = array<float>({1, 2}, {8, 9});
    for (const Status& status :
         {refusal("GatherElements", {kSquare, element}), refusal("GatherND", {kSquare, element}),
          refusal("ScatterElements", {kSquare, element, update}),
          refusal("ScatterND", {kSquare, element, row})}) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(), HasSubstr("outside a dimension of 2"));
    }
  }
}

TEST(FallbackIndices, MustFitTheData) {
  const auto wide = array<int64_t>({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_THAT(refusal("GatherElements", {kSquare, wide}).message(), HasSubstr("do not fit"));
  EXPECT_THAT(refusal("GatherND", {kSquare, wide}).message(), HasSubstr("do not fit"));
  EXPECT_THAT(refusal("GatherElements", {kSquare, kSquare}).message(), HasSubstr("FLOAT32"));
}

TEST(FallbackScatter, CombinesUpdatesOfOneElement) {
  const auto data = vector_of<int32_t>({1, 2, 3});
  const auto indices = array<int64_t>({2, 1}, {1, 1}), same = vector_of<int64_t>({1, 1});
  const auto updates = vector_of<int32_t>({5, 7});
  const auto scattered = [&](const char* reduction) {
    const test::Attributes attributes = {{"reduction", std::string(reduction)}};
    const auto nd = compute("ScatterND", {data, indices, updates}, attributes).as<int32_t>();
    const auto elements = compute("ScatterElements", {data, same, updates}, attributes);
    EXPECT_EQ(elements.as<int32_t>(), nd) << reduction;
    return nd[1];
  };
  EXPECT_EQ(scattered("none"), 7);
  EXPECT_EQ(scattered("add"), 14);
  EXPECT_EQ(scattered("mul"), 70);
  EXPECT_EQ(scattered("min"), 2);
  EXPECT_EQ(scattered("max"), 7);
  EXPECT_THAT(
      refusal("ScatterND", {data, indices, updates}, {{"reduction", std::string("xor")}}).message(),
      HasSubstr("'xor'"));
}

TEST(FallbackScatter, WritesWholeSlices) {
  EXPECT_THAT(
      compute("ScatterND", {kSquare, array<int64_t>({1, 1}, {1}), array<float>({1, 2}, {8, 9})})
          .as<float>(),
      ElementsAre(1, 2, 8, 9));
}

TEST(FallbackGatherNd, KeepsBatchDimensionsApart) {
  const auto data = array<int64_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto gathered =
      compute("GatherND", {data, array<int64_t>({2, 1}, {1, 0})}, {{"batch_dims", int64_t{1}}});
  EXPECT_EQ(gathered.dims, (Dims{2, 2}));
  EXPECT_THAT(gathered.as<int64_t>(), ElementsAre(2, 3, 4, 5));
}

TEST(FallbackOneHot, MarksNothingForIndicesOutsideTheDepth) {
  const auto hot = compute("OneHot", {vector_of<int64_t>({1, -1, 3, -4}), array<int64_t>({}, {3}),
                                      vector_of<float>({0, 1})});
  EXPECT_EQ(hot.dims, (Dims{4, 3}));
  EXPECT_THAT(hot.as<float>(), ElementsAre(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0));
}

TEST(FallbackOneHot, RefusesADepthOutOfRange) {
  const auto indices = vector_of<int64_t>({1});
  const auto values = vector_of<float>({0, 1});
  for (const float depth : {-1.0f, std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
    EXPECT_THAT(refusal("OneHot", {indices, array<float>({}, {depth}), values}).message(),
                HasSubstr("out of range"));
  }
}

TEST(FallbackTrilu, ShiftsTheDiagonal) {
  const auto x = array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto by = [&](int64_t k, int64_t upper) {
    return compute("Trilu", {x, array<int64_t>({}, {k})}, {{"upper", upper}}).as<int32_t>();
  };
  EXPECT_THAT(by(1, 1), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(by(-1, 0), ElementsAre(0, 0, 0, 4, 0, 0));
  EXPECT_THAT(by(std::numeric_limits<int64_t>::max(), 0), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(by(std::numeric_limits<int64_t>::min(), 1), ElementsAre(1, 2, 3, 4, 5, 6));
}

}  // namespace
}  // namespace millrace::fallback
