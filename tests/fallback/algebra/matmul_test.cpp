#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FallbackMatMul, MultipliesStacksOfMatrices) {
  const auto a = array<int64_t>({2, 1, 2}, {1, 2, 3, 4});
  const auto b = array<int64_t>({2, 2}, {1, 10, 100, 1000});
  const auto y = compute("MatMul", {a, b});
  EXPECT_EQ(y.dims, (Dims{2, 1, 2}));
  EXPECT_THAT(y.as<int64_t>(), ElementsAre(201, 2010, 403, 4030));
}

TEST(FallbackMatMul, KeepsTheDigitsOfADouble) {
  const auto y =
      compute("MatMul", {array<double>({1, 2}, {1e17, 1}), array<double>({2, 1}, {1, 4})});
  EXPECT_THAT(y.as<double>(), ElementsAre(1e17 + 4));
}

TEST(FallbackMatMul, VectorsAreRowsOnTheLeftAndColumnsOnTheRight) {
  const auto vector = vector_of<double>({1, 2});
  const auto matrix = array<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto row = compute("MatMul", {vector, matrix});
  EXPECT_EQ(row.dims, (Dims{3}));
  EXPECT_THAT(row.as<double>(), ElementsAre(9, 12, 15));
  const auto column = compute("MatMul", {array<double>({1, 2}, {3, 4}), vector});
  EXPECT_EQ(column.dims, (Dims{1}));
  EXPECT_THAT(column.as<double>(), ElementsAre(11));
  const auto scalar = compute("MatMul", {vector, vector});
  EXPECT_EQ(scalar.dims, (Dims{}));
  EXPECT_THAT(scalar.as<double>(), ElementsAre(5));
}

TEST(FallbackMatMul, AProductOverNothingIsZero) {
  const auto y = compute("MatMul", {array<float>({2, 0}, {}), array<float>({0, 3}, {})});
  EXPECT_EQ(y.dims, (Dims{2, 3}));
  EXPECT_THAT(y.as<float>(), Each(0));
  EXPECT_EQ(
      compute("MatMul", {array<float>({0, 2}, {}), array<float>({2, 3}, {1, 2, 3, 4, 5, 6})}).dims,
      (Dims{0, 3}));
}

TEST(FallbackMatMul, RefusesFactorsThatDoNotFit) {
  EXPECT_EQ(refusal("MatMul", {vector_of<double>({1}), vector_of<double>({1, 2})}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal("MatMul", {array<double>({}, {1}), vector_of<double>({1})}).message(),
              HasSubstr("rank 0"));
}

TEST(FallbackGemm, TransposesScalesAndAdds) {
  const auto a = array<double>({2, 1}, {1, 2});
  const auto b = array<double>({2, 2}, {1, 2, 3, 4});
  const auto y =
      compute("Gemm", {a, b, vector_of<double>({1, 2})},
              {{"alpha", 0.5f}, {"beta", 2.0f}, {"transA", int64_t{1}}, {"transB", int64_t{1}}});
  EXPECT_EQ(y.dims, (Dims{1, 2}));
  EXPECT_THAT(y.as<double>(), ElementsAre(4.5, 9.5));
}

TEST(FallbackGemm, IntegersAreCutOffWhereTheyAreScaled) {
  const auto y = compute("Gemm", {array<int32_t>({1, 1}, {3}), array<int32_t>({1, 1}, {3})},
                         {{"alpha", 0.5f}});
  EXPECT_THAT(y.as<int32_t>(), ElementsAre(4));
}

TEST(FallbackGemm, RefusesAThirdOperandLargerThanTheResult) {
  const auto one = array<double>({1, 1}, {1});
  EXPECT_THAT(refusal("Gemm", {one, one, array<double>({2, 1}, {1, 2})}).message(),
              HasSubstr("larger than the result"));
}

}  // namespace
}  // namespace millrace::fallback
