#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kInverse = "com.microsoft.Inverse";

TEST(FallbackInverse, InvertsEachMatrix) {
  // The first has a pivot of 0 unless rows are swapped.
  const auto matrices = array<double>({2, 2, 2}, {0, 2, 4, 0, 1, 1, 1, 2});
  const auto y = compute(kInverse, {matrices});
  EXPECT_EQ(y.dims, (Dims{2, 2, 2}));
  EXPECT_THAT(y.as<double>(), ElementsAre(0, .25, .5, 0, 2, -1, -1, 1));
}

TEST(FallbackInverse, OfASingularMatrixIsNotFinite) {
  for (const float element : compute(kInverse, {array<float>({2, 2}, {1, 2, 2, 4})}).as<float>())
    EXPECT_FALSE(std::isfinite(element));
}

TEST(FallbackInverse, NeedsSquareMatrices) {
  EXPECT_THAT(refusal(kInverse, {array<float>({1, 2}, {1, 2})}).message(), HasSubstr("square"));
  EXPECT_THAT(refusal(kInverse, {vector_of<float>({1})}).message(), HasSubstr("square"));
}

}  // namespace
}  // namespace millrace::fallback
