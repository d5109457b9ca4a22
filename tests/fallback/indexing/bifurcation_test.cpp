#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::Attributes;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kBifurcation = "com.microsoft.BifurcationDetector";

Array token_list(const std::vector<int64_t>& tokens) {
  return vector_of<int64_t>(tokens);
}

Attributes sizes_from(int64_t shortest, int64_t longest) {
  return {{"max_ngram_size", longest}, {"min_ngram_size", shortest}};
}

const Array kText = token_list({1, 5, 3, 4, 2, 5, 3, 9});

// 3 and 4 are as proposed, 7 replaces 2.
TEST(FallbackBifurcationDetector, KeepsPredictionsUpToTheFirstThatDiffers) {
  const auto y = compute_all(
      kBifurcation, {kText, token_list({1, 5}), token_list({2}), token_list({3, 4, 7, 1, 1, 1, 1})},
      sizes_from(1, 3), 2);
  EXPECT_THAT(y[0].as<int64_t>(), ElementsAre(1, 5, 3, 4, 7));
  EXPECT_THAT(y[1].as<int64_t>(), ElementsAre(-1));
}

TEST(FallbackBifurcationDetector, FindsWhereTheSourceGoesOn) {
  const auto index_after = [](const std::vector<int64_t>& tokens, const Attributes& sizes) {
    return compute_all(kBifurcation, {kText, token_list(tokens), token_list({0})}, sizes, 2)[1]
        .as<int64_t>()[0];
  };
  EXPECT_EQ(index_after({8, 4}, sizes_from(1, 3)), 4);
  EXPECT_EQ(index_after({8, 5, 3}, sizes_from(1, 2)), -1) << "both tokens occur twice";
  EXPECT_EQ(index_after({2, 5, 3}, sizes_from(1, 3)), 7) << "three tokens occur once";
  EXPECT_EQ(index_after({3, 9}, sizes_from(1, 3)), 8) << "the source ends there";
  EXPECT_EQ(index_after({}, sizes_from(1, 3)), -1);
}

TEST(FallbackBifurcationDetector, RefusesWhatDoesNotFit) {
  const auto reason = [](const Array& index, const Array& predicted, const Attributes& sizes) {
    return refusal(kBifurcation, {kText, token_list({1}), index, predicted}, sizes, 2).message();
  };
  const Array nine = token_list({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(reason(token_list({9}), nine, sizes_from(1, 3)), HasSubstr("outside a source of 8"));
  EXPECT_THAT(reason(token_list({-1}), nine, sizes_from(1, 3)), HasSubstr("match_idx -1"));
  EXPECT_THAT(reason(token_list({3}), nine, sizes_from(1, 3)),
              HasSubstr("9 predictions for 5 proposed"));
  EXPECT_THAT(reason(token_list({0, 0}), nine, sizes_from(1, 3)), HasSubstr("one INT64"));
  EXPECT_THAT(reason(token_list({0}), nine, sizes_from(3, 2)), HasSubstr("3 to 2 tokens"));
  EXPECT_THAT(reason(token_list({0}), test::array<int64_t>({1, 1}, {1}), sizes_from(1, 2)),
              HasSubstr("vectors of INT64"));
}

}  // namespace
}  // namespace millrace::fallback
