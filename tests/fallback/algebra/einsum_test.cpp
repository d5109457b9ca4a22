#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Array kA = array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
const Array kB = array<int32_t>({3, 2}, {1, 0, 0, 1, 2, 2});

Attributes equation(const char* text) {
  return {{"equation", std::string(text)}};
}
Array einsum(const char* text, const std::vector<Array>& operands) {
  return compute("Einsum", operands, equation(text));
}

TEST(FallbackEinsum, MultipliesTransposesAndSums) {
  EXPECT_THAT(einsum("ij,jk->ik", {kA, kB}).as<int32_t>(), ElementsAre(7, 8, 16, 17));
  EXPECT_THAT(einsum(" i j , j k -> k i ", {kA, kB}).as<int32_t>(), ElementsAre(7, 16, 8, 17));
  EXPECT_THAT(einsum("ij->j", {kA}).as<int32_t>(), ElementsAre(5, 7, 9));
  EXPECT_THAT(einsum("ij->", {kA}).as<int32_t>(), ElementsAre(21));
  EXPECT_EQ(einsum("ij->", {kA}).dims, (Dims{}));
  EXPECT_THAT(einsum("ij,jk,k->i", {kA, kB, vector_of<int32_t>({1, 10})}).as<int32_t>(),
              ElementsAre(87, 186));
}

TEST(FallbackEinsum, TakesDiagonals) {
  const auto square = array<int32_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(einsum("ii->i", {square}).as<int32_t>(), ElementsAre(1, 4));
  EXPECT_THAT(einsum("ii", {square}).as<int32_t>(), ElementsAre(5));
}

// Without an arrow the result has the indices that stand once, in alphabetical order.
TEST(FallbackEinsum, FindsTheResultByItself) {
  EXPECT_EQ(einsum("ba", {kA}).dims, (Dims{3, 2}));
  EXPECT_THAT(einsum("ij,jk", {kA, kB}).as<int32_t>(), ElementsAre(7, 8, 16, 17));
}

TEST(FallbackEinsum, BroadcastsWhatAnEllipsisHides) {
  const auto batch = array<int32_t>({2, 1, 1, 2}, {1, 2, 3, 4});
  const auto columns = array<int32_t>({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  const auto y = einsum("...ij,...jk->...ik", {batch, columns});
  EXPECT_EQ(y.dims, (Dims{2, 3, 1, 1}));
  EXPECT_THAT(y.as<int32_t>(), ElementsAre(1, 2, 3, 3, 4, 7));
  EXPECT_EQ(einsum("i...->...i", {kA}).dims, (Dims{3, 2}));
}

TEST(FallbackEinsum, RefusesEquationsThatDoNotParse) {
  for (const char* text : {"i$->i", "i.j->i", "......->", "ij->ij->", "i-j", "ij,->i"})
    EXPECT_EQ(refusal("Einsum", {kA}, equation(text)).code(), StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(refusal("Einsum", {kA}, equation("i1->i")).message(), HasSubstr("'1'"));
  EXPECT_THAT(refusal("Einsum", {kA}, equation("ijk->i")).message(), HasSubstr("rank 2"));
  EXPECT_THAT(refusal("Einsum", {kA}, equation("ij->ii")).message(), HasSubstr("twice"));
  EXPECT_THAT(refusal("Einsum", {kA}, equation("ij->k")).message(), HasSubstr("no operand"));
  EXPECT_THAT(refusal("Einsum", {kA, kA}, equation("ij,jk->ik")).message(),
              HasSubstr("sizes 3 and 2"));
  EXPECT_THAT(refusal("Einsum", {kA}, equation("ij,jk->ik")).message(), HasSubstr("2 operands"));
}

TEST(FallbackDet, ExchangesRows) {
  const auto x = array<float>({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4});
  EXPECT_THAT(compute("Det", {x}).as<float>(), ElementsAre(-6, 0));
  EXPECT_THAT(refusal("Det", {vector_of<float>({1})}).message(), HasSubstr("square"));
}

}  // namespace
}  // namespace millrace::fallback
