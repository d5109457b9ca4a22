#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::Array;
using test::compute;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr const char* kName = "millrace.Attention";

// Weights of the keys are 1 to 3 for the first query, 1 to 1 for the second.
const Array kQueries = array<float>({1, 2, 1}, {std::log(3.0f), 0});
const Array kKeys = array<float>({1, 2, 1}, {0, 1});
const Array kValues = array<float>({1, 2, 2}, {4, 8, 0, 80});

TEST(FallbackAttention, WeighsValuesByTheSoftmaxOfTheScores) {
  EXPECT_THAT(compute(kName, {kQueries, kKeys, kValues}).as<float>(),
              ElementsAre(FloatNear(1, 1e-5f), FloatNear(62, 1e-4f), 2, 44));
}

TEST(FallbackAttention, ScalesTheScores) {
  const Array half = array<float>({1, 2, 1}, {0, 0.5f});
  EXPECT_THAT(compute(kName, {kQueries, half, kValues}, {{"scale", 2.0f}}).as<float>(),
              ElementsAre(FloatNear(1, 1e-5f), FloatNear(62, 1e-4f), 2, 44));
}

TEST(FallbackAttention, AddsABiasThatBroadcasts) {
  const Array none = array<float>({1, 2, 1}, {0, 0});
  const float three = std::log(3.0f);
  EXPECT_THAT(compute(kName, {none, kKeys, kValues, array<float>({2}, {three, 0})}).as<float>(),
              ElementsAre(3, FloatNear(26, 1e-4f), 3, FloatNear(26, 1e-4f)));
  EXPECT_THAT(compute(kName, {none, kKeys, kValues, array<float>({2, 1}, {-5, 7})}).as<float>(),
              ElementsAre(2, 44, 2, 44));
}

TEST(FallbackAttention, EachHeadHasKeysOfItsOwn) {
  const Array query = array<float>({2, 1, 1}, {1, 1}), key = array<float>({2, 1, 1}, {1, 1});
  EXPECT_THAT(compute(kName, {query, key, array<float>({2, 1, 1}, {5, 6})}).as<float>(),
              ElementsAre(5, 6));
}

TEST(FallbackAttention, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal(kName, {kQueries, kKeys, array<float>({1, 1, 2}, {4, 8})}).message(),
              HasSubstr("do not fit each other"));
  EXPECT_THAT(refusal(kName, {kQueries, kKeys, kValues, array<float>({3}, {1, 2, 3})}).message(),
              HasSubstr("3"));
  EXPECT_THAT(refusal(kName, {kQueries, kKeys, kValues, array<float>({2, 1, 1}, {1, 2})}).message(),
              HasSubstr("does not broadcast"));
  EXPECT_THAT(refusal(kName, {kQueries, array<float>({1, 0, 1}, {}), array<float>({1, 0, 2}, {})})
                  .message(),
              HasSubstr("no elements"));
}

}  // namespace
}  // namespace millrace::fallback
