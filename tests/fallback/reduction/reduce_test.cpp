#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::booleans;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

test::Array axes(const std::vector<int64_t>& elements) {
  return vector_of<int64_t>(elements);
}

TEST(FallbackReduce, SumsOverSomeDimensions) {
  const auto x = array<double>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto kept = compute("ReduceSum", {x, axes({-1, 0})});
  EXPECT_EQ(kept.dims, (Dims{1, 2, 1}));
  EXPECT_THAT(kept.as<double>(), ElementsAre(14, 22));
  const auto dropped = compute("ReduceSum", {x, axes({1})}, {{"keepdims", int64_t{0}}});
  EXPECT_EQ(dropped.dims, (Dims{2, 2}));
  EXPECT_THAT(dropped.as<double>(), ElementsAre(4, 6, 12, 14));
}

TEST(FallbackReduce, AxesMayBeAnAttribute) {
  const auto x = array<int32_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(compute("ReduceProd", {x}, {{"axes", Dims{0}}}).as<int32_t>(), ElementsAre(3, 8));
}

TEST(FallbackReduce, NoAxesMeanAllOrNone) {
  const auto x = array<int64_t>({2, 1}, {3, -4});
  EXPECT_THAT(compute("ReduceMax", {x}).as<int64_t>(), ElementsAre(3));
  EXPECT_THAT(compute("ReduceSum", {x, axes({})}).as<int64_t>(), ElementsAre(-1));
  const auto same = compute("ReduceSum", {x, axes({})}, {{"noop_with_empty_axes", int64_t{1}}});
  EXPECT_EQ(same.dims, (Dims{2, 1}));
  EXPECT_THAT(same.as<int64_t>(), ElementsAre(3, -4));
}

TEST(FallbackReduce, EachFunction) {
  const auto x = vector_of<double>({3, -4});
  const auto of = [&](const char* name) { return compute(name, {x}).as<double>()[0]; };
  EXPECT_EQ(of("ReduceL1"), 7);
  EXPECT_EQ(of("ReduceL2"), 5);
  EXPECT_EQ(of("ReduceSumSquare"), 25);
  EXPECT_EQ(of("ReduceMean"), -0.5);
  EXPECT_EQ(of("ReduceMin"), -4);
  EXPECT_TRUE(std::isnan(of("ReduceLogSum")));
  EXPECT_THAT(of("ReduceLogSumExp"), DoubleEq(3 + std::log1p(std::exp(-7.0))));
}

TEST(FallbackReduce, TheLogarithmOfExponentialsDoesNotOverflow) {
  EXPECT_THAT(compute("ReduceLogSumExp", {vector_of<double>({1000, 1000})}).as<double>(),
              ElementsAre(DoubleEq(1000 + std::log(2.0))));
  EXPECT_THAT(compute("ReduceLogSumExp", {vector_of<double>({-kInfinity})}).as<double>(),
              ElementsAre(-kInfinity));
}

TEST(FallbackReduce, MeansOfSmallIntegersDoNotOverflow) {
  EXPECT_THAT(compute("ReduceMean", {vector_of<int8_t>({127, 127, 127})}).as<int8_t>(),
              ElementsAre(127));
}

TEST(FallbackReduce, NanWins) {
  EXPECT_TRUE(
      std::isnan(compute("ReduceMax", {vector_of<double>({1, std::nan(""), 2})}).as<double>()[0]));
}

TEST(FallbackReduce, OfBooleansAnyOrAll) {
  EXPECT_THAT(compute("ReduceMax", {booleans({0, 2, 0})}).as<uint8_t>(), ElementsAre(1));
  EXPECT_THAT(compute("ReduceMin", {booleans({1, 0, 1})}).as<uint8_t>(), ElementsAre(0));
}

TEST(FallbackReduce, OverNothing) {
  const auto x = array<double>({2, 0}, {});
  const auto of = [&](const char* name) { return compute(name, {x, axes({1})}).as<double>(); };
  EXPECT_THAT(of("ReduceSum"), ElementsAre(0, 0));
  EXPECT_THAT(of("ReduceProd"), ElementsAre(1, 1));
  EXPECT_THAT(of("ReduceMax"), Each(-kInfinity));
  EXPECT_THAT(of("ReduceMin"), Each(kInfinity));
  EXPECT_THAT(of("ReduceLogSumExp"), Each(-kInfinity));
  EXPECT_TRUE(std::isnan(of("ReduceMean")[0]));
  EXPECT_THAT(compute("ReduceMean", {array<int32_t>({1, 0}, {})}).as<int32_t>(), ElementsAre(0));
  EXPECT_THAT(compute("ReduceMax", {array<int8_t>({1, 0}, {})}).as<int8_t>(), ElementsAre(-128));
  EXPECT_EQ(compute("ReduceSum", {x, axes({0})}).dims, (Dims{1, 0}));
}

TEST(FallbackReduce, RefusesAxesThatDoNotFit) {
  const auto x = vector_of<double>({1});
  EXPECT_EQ(refusal("ReduceSum", {x, axes({1})}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal("ReduceSum", {x, axes({std::numeric_limits<int64_t>::min()})}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal("ReduceSum", {x, axes({0, -1})}).message(), HasSubstr("twice"));
}

}  // namespace
}  // namespace millrace::fallback
