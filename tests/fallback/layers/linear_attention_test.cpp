// Linear attention, computed by hand. The cases of tests/onnx/cases compare it with ONNX Runtime.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::Attributes;
using test::compute_all;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kLinearAttention = "com.microsoft.LinearAttention";

Attributes rule(const char* name, int64_t queries = 1, int64_t heads = 1) {
  return {{"kv_num_heads", heads},
          {"q_num_heads", queries},
          {"scale", 1.0f},
          {"update_rule", std::string(name)}};
}

// One head of size 1 over two tokens.
Array tokens(float first, float second) {
  return array<float>({1, 2, 1}, {first, second});
}
const Array kQuery = tokens(1, 2), kKey = tokens(1, 1), kValue = tokens(3, 4);
const Array kState = array<float>({1, 1, 1, 1}, {8});
const Array kHalf = tokens(std::log(.5f), std::log(.5f)), kBeta = tokens(1, .5f);

TEST(FallbackLinearAttention, AddsKeysTimesValues) {
  const auto y = compute_all(kLinearAttention, {kQuery, kKey, kValue}, rule("linear"), 2);
  EXPECT_THAT(y[0].as<float>(), ElementsAre(3, 14));
  EXPECT_EQ(y[1].dims, (Dims{1, 1, 1, 1}));
  EXPECT_THAT(y[1].as<float>(), ElementsAre(7));
}

TEST(FallbackLinearAttention, GoesOnFromAStateThatDecays) {
  const auto y =
      compute_all(kLinearAttention, {kQuery, kKey, kValue, kState, kHalf}, rule("gated"), 2);
  EXPECT_THAT(y[0].as<float>(), ElementsAre(7, 15));
  EXPECT_THAT(y[1].as<float>(), ElementsAre(7.5f));
}

// The first token replaces the state by 3, the second moves it half the way to 4.
TEST(FallbackLinearAttention, CorrectsWhatTheStateHolds) {
  const auto y = compute_all(kLinearAttention, {kQuery, kKey, kValue, kState, absent(), kBeta},
                             rule("delta"), 2);
  EXPECT_THAT(y[0].as<float>(), ElementsAre(3, 7));
  const auto both = compute_all(kLinearAttention, {kQuery, kKey, kValue, kState, kHalf, kBeta},
                                rule("gated_delta"), 2);
  EXPECT_THAT(both[0].as<float>(), ElementsAre(3, 5.5f));
}

TEST(FallbackLinearAttention, HeadsShareStatesOrQueries) {
  const Array one = array<float>({1, 1, 1}, {2}), two = array<float>({1, 1, 2}, {3, 5});
  EXPECT_THAT(
      compute_all(kLinearAttention, {two, one, one}, rule("linear", 2, 1), 2)[0].as<float>(),
      ElementsAre(12, 20));
  EXPECT_THAT(
      compute_all(kLinearAttention, {one, one, two}, rule("linear", 1, 2), 2)[0].as<float>(),
      ElementsAre(12, 20));
}

TEST(FallbackLinearAttention, RefusesWhatDoesNotFit) {
  const auto refused = [](const std::vector<Array>& operands, const Attributes& attributes) {
    return refusal(kLinearAttention, operands, attributes, 2).message();
  };
  EXPECT_THAT(refused({kQuery, kKey, kValue}, rule("gated")), HasSubstr("needs a decay"));
  EXPECT_THAT(refused({kQuery, kKey, kValue}, rule("delta")), HasSubstr("needs a beta"));
  EXPECT_THAT(refused({kQuery, kKey, kValue}, rule("square")), HasSubstr("'square'"));
  EXPECT_THAT(refused({kQuery, kKey, kValue}, rule("linear", 2, 1)), HasSubstr("divided into"));
  EXPECT_THAT(refused({kQuery, kKey, kValue, kQuery}, rule("linear")), HasSubstr("past state"));
  EXPECT_THAT(refused({kQuery, kKey, kValue, absent(), kState}, rule("gated")),
              HasSubstr("decay must be"));
}

}  // namespace
}  // namespace millrace::fallback
