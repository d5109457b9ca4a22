#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::Array;
using test::Attributes;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr const char* kCached = "millrace.CachedAttention";
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

// Queries of 0 give all keys that they see the same weight, so that a result is the mean of their
// values. One head of size 1, and a buffer of 5 for each sequence.
Array zero_heads(int64_t batch, int64_t heads, int64_t rows) {
  return array<float>({batch, heads, rows, 1},
                      std::vector<float>(static_cast<size_t>(batch * heads * rows)));
}

std::vector<float> means(const std::vector<int64_t>& lengths, int64_t queries,
                         const std::vector<float>& values, const Attributes& attributes = {}) {
  const auto batch = static_cast<int64_t>(lengths.size());
  return compute(kCached,
                 {zero_heads(batch, 1, queries), zero_heads(batch, 1, 5),
                  array<float>({batch, 1, 5, 1}, values), vector_of<int64_t>(lengths)},
                 attributes)
      .as<float>();
}

auto nearly(const std::vector<float>& expected) {
  return Pointwise(FloatNear(1e-5f), expected);
}

TEST(FallbackCachedAttention, ReadsNothingAfterASequence) {
  EXPECT_THAT(means({2, 5}, 1, {1, 3, kNotANumber, kNotANumber, 9, 1, 2, 3, 4, 10}),
              nearly({2, 4}));
}

TEST(FallbackCachedAttention, EachQuerySeesTheKeysUpToItsOwn) {
  EXPECT_THAT(means({4}, 3, {1, 3, 5, 7, kNotANumber}), nearly({2, 3, 4}));
  EXPECT_THAT(means({4}, 3, {1, 3, 5, 7, kNotANumber}, {{"causal", int64_t{0}}}),
              nearly({4, 4, 4}));
}

TEST(FallbackCachedAttention, AWindowHidesEarlierKeys) {
  EXPECT_THAT(means({5}, 2, {kNotANumber, kNotANumber, 5, 7, 20}, {{"window", int64_t{2}}}),
              nearly({6, 13.5f}));
  EXPECT_THAT(means({2}, 1, {1, 3, 0, 0, 0}, {{"window", int64_t{9}}}), nearly({2}));
  EXPECT_THAT(means({2}, 1, {1, 3, 0, 0, 0}, {{"window", int64_t{0}}}), nearly({0}));
}

TEST(FallbackCachedAttention, LengthsMayBeAnything) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<float> values = {1, 2, 3, 4, 5};
  EXPECT_THAT(means({0}, 1, values), nearly({0}));
  EXPECT_THAT(means({1}, 3, values), nearly({0, 0, 1}));
  EXPECT_THAT(means({-kMost}, 1, values), nearly({0}));
  EXPECT_THAT(means({kMost}, 2, values), nearly({3, 3}));
  EXPECT_THAT(means({6}, 2, values), nearly({3, 3}));
}

// Two groups of two heads, of which the keys are weighed 3 to 1 for a query of log 3.
TEST(FallbackCachedAttention, HeadsOfAGroupShareKeys) {
  const float three = std::log(3.0f);
  const Array query = array<float>({1, 4, 1, 1}, {0, three, 0, three / 2});
  const Array keys = array<float>({1, 2, 2, 1}, {1, 0, 2, 0});
  const Array values = array<float>({1, 2, 2, 1}, {4, 8, 40, 80});
  EXPECT_THAT(compute(kCached, {query, keys, values, vector_of<int64_t>({2})}).as<float>(),
              nearly({6, 5, 60, 50}));
}

TEST(FallbackCachedAttention, SinksTakeWeight) {
  const Array sinks = vector_of<float>({0, std::log(2.0f)});
  const Array values = array<float>({1, 1, 2, 1}, {6, 12});
  const auto y = compute(
      kCached, {zero_heads(1, 2, 1), zero_heads(1, 1, 2), values, vector_of<int64_t>({2}), sinks});
  EXPECT_THAT(y.as<float>(), nearly({6, 4.5f}));
  EXPECT_THAT(compute(kCached, {zero_heads(1, 2, 1), zero_heads(1, 1, 2), values,
                                vector_of<int64_t>({0}), sinks})
                  .as<float>(),
              ElementsAre(0, 0));
}

TEST(FallbackCachedAttention, RefusesWhatDoesNotFit) {
  const Array one = vector_of<int64_t>({1});
  const auto reason = [](const Array& query, const Array& keys, const Array& values,
                         const Array& lengths, const Array& sinks = {}) {
    return refusal(kCached, {query, keys, values, lengths, sinks}).message();
  };
  EXPECT_THAT(reason(zero_heads(1, 1, 1), zero_heads(1, 1, 2), zero_heads(1, 1, 3), one),
              HasSubstr("do not fit each other"));
  EXPECT_THAT(reason(zero_heads(1, 3, 1), zero_heads(1, 2, 2), zero_heads(1, 2, 2), one),
              HasSubstr("3 query heads cannot share 2 key heads"));
  EXPECT_THAT(reason(zero_heads(1, 1, 1), zero_heads(1, 1, 0), zero_heads(1, 1, 0), one),
              HasSubstr("no elements"));
  EXPECT_THAT(reason(zero_heads(2, 1, 1), zero_heads(2, 1, 2), zero_heads(2, 1, 2), one),
              HasSubstr("one INT64 for each"));
  EXPECT_THAT(reason(zero_heads(1, 2, 1), zero_heads(1, 1, 2), zero_heads(1, 1, 2), one,
                     vector_of<float>({1})),
              HasSubstr("one element for each head"));
}

}  // namespace
}  // namespace millrace::fallback
