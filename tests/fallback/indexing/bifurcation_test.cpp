#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <span>

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
using ::testing::PrintToString;

constexpr const char* kBifurcation = "com.microsoft.BifurcationDetector";

Array token_list(const std::vector<int64_t>& tokens) {
  return vector_of<int64_t>(tokens);
}

Attributes sizes_from(int64_t shortest, int64_t longest) {
  return {{"max_ngram_size", longest}, {"min_ngram_size", shortest}};
}

// Returns the index after the longest last tokens that occur, if they occur once.
int64_t found(const std::vector<int64_t>& source, const std::vector<int64_t>& tokens,
              size_t shortest, size_t longest) {
  for (size_t size = std::min(longest, tokens.size()); size >= shortest; --size) {
    const std::span<const int64_t> last = std::span(tokens).last(size);
    const auto first = std::search(source.begin(), source.end(), last.begin(), last.end());
    if (first == source.end()) continue;
    const bool is_only =
        std::search(first + 1, source.end(), last.begin(), last.end()) == source.end();
    return is_only ? first - source.begin() + static_cast<int64_t>(size) : -1;
  }
  return -1;
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
  EXPECT_EQ(index_after({1, 5, 3}, sizes_from(2, 2)), -1) << "both tokens occur twice";
  EXPECT_EQ(index_after({8, 8, 4}, sizes_from(2, 3)), -1) << "only one token occurs";
  EXPECT_EQ(index_after({}, sizes_from(1, 3)), -1);
}

// Sizes of n-grams have no limit, and equal tokens match in every place.
TEST(FallbackBifurcationDetector, TakesNoLongerForLongNGrams) {
  constexpr size_t kTokens = size_t{1} << 20;
  const Array same = token_list(std::vector<int64_t>(kTokens, 7));
  const auto index_after = [&](const Array& source) {
    return compute_all(kBifurcation, {source, same, token_list({0})}, sizes_from(1, kTokens), 2)[1]
        .as<int64_t>()[0];
  };
  EXPECT_EQ(index_after(same), static_cast<int64_t>(kTokens)) << "all tokens occur once";
  EXPECT_EQ(index_after(token_list(std::vector<int64_t>(kTokens + 1, 7))), -1);
}

// Compared with a search for each size of the n-grams.
TEST(FallbackBifurcationDetector, FindsWhatASearchForEachSizeFinds) {
  std::mt19937 random(5);
  const auto tokens_of = [&](size_t count) {
    std::vector<int64_t> tokens(count);
    for (int64_t& token : tokens) token = random() % 2;
    return tokens;
  };
  for (int i = 0; i < 200; ++i) {
    const auto source = tokens_of(random() % 12), tokens = tokens_of(random() % 8);
    const size_t shortest = 1 + random() % 3, longest = shortest + random() % 4;
    const auto y =
        compute_all(kBifurcation, {token_list(source), token_list(tokens), token_list({0})},
                    sizes_from(static_cast<int64_t>(shortest), static_cast<int64_t>(longest)), 2);
    EXPECT_THAT(y[1].as<int64_t>(), ElementsAre(found(source, tokens, shortest, longest)))
        << PrintToString(source) << " " << PrintToString(tokens) << " from " << shortest << " to "
        << longest;
  }
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
