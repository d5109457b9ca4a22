#include <gmock/gmock.h>

#include <limits>

#include "fallback/operator_table.h"
#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::booleans;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const test::Array kMatrix = array<float>({2, 3}, {1, 0, 2, 0, 0, 3});

TEST(FallbackNonZero, GivesOneColumnPerElement) {
  const auto found = compute("NonZero", {kMatrix});
  EXPECT_EQ(found.dims, (Dims{2, 3}));
  EXPECT_THAT(found.as<int64_t>(), ElementsAre(0, 0, 1, 0, 2, 2));
}

TEST(FallbackNonZero, NeedsElements) {
  EXPECT_TRUE(find_operator("NonZero")->shape_follows_elements);
  const Dims dims = {2, 3};
  const TensorView unknown{DataType::kFloat32, dims, nullptr};
  const auto types = infer_outputs({"NonZero", {}}, {{unknown}}, 1);
  EXPECT_EQ(types.status().code(), StatusCode::kUnsupported);
}

TEST(FallbackCompress, TakesSlicesOfAnAxisOrElements) {
  const auto columns = compute("Compress", {kMatrix, booleans({1, 0, 1})}, {{"axis", int64_t{-1}}});
  EXPECT_EQ(columns.dims, (Dims{2, 2}));
  EXPECT_THAT(columns.as<float>(), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(compute("Compress", {kMatrix, booleans({0, 0, 1, 1})}).as<float>(),
              ElementsAre(2, 0));
}

TEST(FallbackCompress, RefusesToChooseWhatIsNotThere) {
  EXPECT_THAT(refusal("Compress", {kMatrix, booleans({0, 0, 1})}, {{"axis", int64_t{0}}}).message(),
              HasSubstr("selects slice 2, but there are 2"));
  EXPECT_THAT(refusal("Compress", {kMatrix, booleans({1})}, {{"axis", int64_t{2}}}).message(),
              HasSubstr("axis 2"));
}

TEST(FallbackUnique, SortsOrKeepsTheOrderOfOccurrence) {
  const auto x = vector_of<int32_t>({3, 1, 3, 2, 1});
  const auto sorted = compute_all("Unique", {x}, {}, 4);
  EXPECT_THAT(sorted[0].as<int32_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(sorted[1].as<int64_t>(), ElementsAre(1, 3, 0));
  EXPECT_THAT(sorted[2].as<int64_t>(), ElementsAre(2, 0, 2, 1, 0));
  EXPECT_THAT(sorted[3].as<int64_t>(), ElementsAre(2, 1, 2));
  const auto found = compute_all("Unique", {x}, {{"sorted", int64_t{0}}}, 4);
  EXPECT_THAT(found[0].as<int32_t>(), ElementsAre(3, 1, 2));
  EXPECT_THAT(found[2].as<int64_t>(), ElementsAre(0, 1, 0, 2, 1));
}

TEST(FallbackUnique, ComparesWholeSlices) {
  const auto x = array<float>({3, 2}, {2, 1, 1, 5, 2, 1});
  const auto unique = compute("Unique", {x}, {{"axis", int64_t{0}}});
  EXPECT_EQ(unique.dims, (Dims{2, 2}));
  EXPECT_THAT(unique.as<float>(), ElementsAre(1, 5, 2, 1));
}

TEST(FallbackUnique, TakesAllNotANumbersForOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compute("Unique", {vector_of<float>({nan, 1, nan})}).dims, (Dims{2}));
}

TEST(FallbackUniqueOfVector, ListsElementsAsTheyOccurFirst) {
  const auto found =
      compute_all("com.microsoft.Unique", {vector_of<float>({2, 1, 1, 3, 2})}, {}, 3);
  EXPECT_THAT(found[0].as<float>(), ElementsAre(2, 1, 3));
  EXPECT_THAT(found[1].as<int64_t>(), ElementsAre(0, 1, 1, 2, 0));
  EXPECT_THAT(found[2].as<int64_t>(), ElementsAre(2, 2, 1));
  EXPECT_TRUE(find_operator("com.microsoft.Unique")->shape_follows_elements);
  EXPECT_THAT(refusal("com.microsoft.Unique", {kMatrix}, {}, 3).message(), HasSubstr("a vector"));
}

// Boxes as [y1, x1, y2, x2]: the second covers 9/11 of the union with the first, the third is
// apart.
const test::Array kBoxes = array<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6});
const test::Array kScores = array<float>({1, 1, 3}, {0.5f, 0.9f, 0.7f});

test::Array limit(float value) {
  return array<float>({1}, {value});
}
test::Array most(int64_t value) {
  return array<int64_t>({}, {value});
}

TEST(FallbackNonMaxSuppression, KeepsTheBestOfOverlappingBoxes) {
  const auto found = compute("NonMaxSuppression", {kBoxes, kScores, most(3), limit(0.5f)});
  EXPECT_EQ(found.dims, (Dims{2, 3}));
  EXPECT_THAT(found.as<int64_t>(), ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_EQ(compute("NonMaxSuppression", {kBoxes, kScores, most(3), limit(0.9f)}).dims[0], 3);
  EXPECT_EQ(compute("NonMaxSuppression", {kBoxes, kScores, most(1), limit(0.9f)}).dims[0], 1);
}

TEST(FallbackNonMaxSuppression, RefusesLimitsThatAreNone) {
  for (const float overlap : {-1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THAT(refusal("NonMaxSuppression", {kBoxes, kScores, most(3), limit(overlap)}).message(),
                HasSubstr("iou_threshold"));
  EXPECT_EQ(refusal("NonMaxSuppression", {kBoxes, kBoxes}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
