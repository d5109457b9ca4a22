#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(FallbackArg, FindsTheFirstOrLastExtreme) {
  const auto x = array<int32_t>({2, 3}, {5, 5, 1, 1, 2, 1});
  EXPECT_THAT(compute("ArgMax", {x}, {{"axis", int64_t{1}}}).as<int64_t>(), ElementsAre(0, 1));
  EXPECT_THAT(compute("ArgMin", {x}, {{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}})
                  .as<int64_t>(),
              ElementsAre(2, 2));
  const auto flat = compute("ArgMax", {x}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  EXPECT_EQ(flat.dims, Dims{3});
  EXPECT_THAT(flat.as<int64_t>(), ElementsAre(0, 0, 0));
}

TEST(FallbackArg, RefusesAnAxisThatIsNotThere) {
  EXPECT_THAT(refusal("ArgMax", {vector_of<float>({1})}, {{"axis", int64_t{1}}}).message(),
              HasSubstr("axis 1 is outside rank 1"));
}

TEST(FallbackTopK, RanksAlongAnAxis) {
  const auto x = array<float>({3, 2}, {1, 6, 3, 4, 2, 5});
  const auto best = compute_all("TopK", {x, vector_of<int64_t>({2})}, {{"axis", int64_t{0}}}, 2);
  EXPECT_EQ(best[0].dims, (Dims{2, 2}));
  EXPECT_THAT(best[0].as<float>(), ElementsAre(3, 6, 2, 5));
  EXPECT_THAT(best[1].as<int64_t>(), ElementsAre(1, 0, 2, 2));
}

TEST(FallbackTopK, TakesTheLowerIndexOfEquals) {
  const auto x = vector_of<float>({2, 1, 2, 1});
  const auto k = vector_of<int64_t>({3});
  EXPECT_THAT(compute_all("TopK", {x, k}, {}, 2)[1].as<int64_t>(), ElementsAre(0, 2, 1));
  EXPECT_THAT(compute_all("TopK", {x, k}, {{"largest", int64_t{0}}}, 2)[1].as<int64_t>(),
              ElementsAre(1, 3, 0));
}

TEST(FallbackTopK, RanksNaNAsTheLargest) {
  const auto x = vector_of<float>({1, kNaN, 3, kNaN});
  EXPECT_THAT(compute_all("TopK", {x, vector_of<int64_t>({3})}, {}, 2)[1].as<int64_t>(),
              ElementsAre(1, 3, 2));
}

TEST(FallbackTopK, RefusesMoreThanThereIs) {
  EXPECT_EQ(refusal("TopK", {vector_of<float>({1, 2}), vector_of<int64_t>({3})}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal("TopK", {vector_of<float>({1, 2}), vector_of<int64_t>({-1})}).code(),
            StatusCode::kInvalidArgument);
}

TEST(FallbackCumulativeSum, GoesBothWays) {
  const auto x = array<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto axis = array<int32_t>({}, {1});
  EXPECT_THAT(compute("CumSum", {x, axis}).as<int64_t>(), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(compute("CumSum", {x, axis}, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}})
                  .as<int64_t>(),
              ElementsAre(5, 3, 0, 11, 6, 0));
}

TEST(FallbackCumulativeProduct, GoesBothWays) {
  const auto x = array<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto axis = array<int32_t>({}, {-1});
  EXPECT_THAT(compute("CumProd", {x, axis}).as<int64_t>(), ElementsAre(1, 2, 6, 4, 20, 120));
  EXPECT_THAT(compute("CumProd", {x, axis}, {{"exclusive", int64_t{1}}}).as<int64_t>(),
              ElementsAre(1, 1, 2, 1, 4, 20));
  EXPECT_THAT(compute("CumProd", {x, axis}, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}})
                  .as<int64_t>(),
              ElementsAre(6, 3, 1, 30, 6, 1));
  EXPECT_THAT(compute("CumProd", {array<float>({2, 2}, {.5f, 2, 4, kNaN}), array<int64_t>({}, {0})})
                  .as<float>(),
              ElementsAre(.5f, 2, 2, ::testing::IsNan()));
}

TEST(FallbackCumulativeSum, ChecksTheAxisWhenItIsKnown) {
  const auto x = vector_of<int64_t>({1, 2});
  EXPECT_THAT(refusal("CumSum", {x, array<int64_t>({}, {1})}).message(),
              HasSubstr("axis 1 is outside rank 1"));
  const graph::Fallback op{"CumSum", {}};
  const std::vector<TensorView> views = {x.view(), {DataType::kInt64, {}, nullptr}};
  EXPECT_TRUE(infer_outputs(op, views, 1).ok());
}

TEST(FallbackHardmax, MarksTheFirstLargest) {
  EXPECT_THAT(compute("Hardmax", {array<float>({2, 3}, {1, 3, 3, 2, 1, 0})}).as<float>(),
              ElementsAre(0, 1, 0, 1, 0, 0));
}

TEST(FallbackTopK, TakesKFromAnAttributeOfTheFirstOperatorSets) {
  const auto x = vector_of<float>({1, 3, 2});
  EXPECT_THAT(compute_all("TopK", {x}, {{"k", int64_t{2}}}, 2)[1].as<int64_t>(), ElementsAre(1, 2));
  EXPECT_EQ(refusal("TopK", {x}, {}, 2).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::fallback
