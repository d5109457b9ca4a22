// Mixtures of experts. The cases of tests/onnx/cases compare them with ONNX Runtime.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr const char* kMoe = "com.microsoft.MoE";
constexpr const char* kQuantised = "com.microsoft.QMoE";

// Two tokens of one element, and three experts that multiply by 10, 100 and 1000. The first token
// prefers the last expert, the second the first one; the weights of the best two are 3/4 and 1/4.
const Array kTokens = array<float>({2, 1}, {1, 2});
const float kThree = std::log(3.0f);
const Array kScores = array<float>({2, 3}, {-9, 0, kThree, kThree, -9, 0});
const Array kFirst = array<float>({3, 1, 1}, {10, 100, 1000});
const Array kOnes = array<float>({3, 1, 1}, {1, 1, 1});

Attributes best(int64_t count) {
  return {{"activation_type", std::string("identity")},
          {"k", count},
          {"normalize_routing_weights", int64_t{1}}};
}

TEST(FallbackExperts, AreChosenByTheirScores) {
  EXPECT_THAT(compute(kMoe, {kTokens, kScores, kFirst, absent(), kOnes}, best(1)).as<float>(),
              ElementsAre(1000, 20));
  EXPECT_THAT(compute(kMoe, {kTokens, kScores, kFirst, absent(), kOnes}, best(2)).as<float>(),
              ElementsAre(FloatNear(775, .01f), FloatNear(515, .01f)));
}

TEST(FallbackExperts, HaveABiasEach) {
  const Array biases = array<float>({3, 1}, {1, 2, 3});
  EXPECT_THAT(compute(kMoe, {kTokens, kScores, kFirst, biases, kOnes, biases}, best(1)).as<float>(),
              ElementsAre(1006, 22));
}

// More tokens than are computed together.
TEST(FallbackExperts, ComputeAnyNumberOfTokens) {
  std::vector<float> tokens, scores, expected;
  for (int i = 0; i < 50; ++i) {
    tokens.push_back(static_cast<float>(i));
    scores.insert(scores.end(), {static_cast<float>(i % 3 == 0), static_cast<float>(i % 3 == 1),
                                 static_cast<float>(i % 3 == 2)});
    expected.push_back(tokens.back() * kFirst.as<float>()[static_cast<size_t>(i % 3)]);
  }
  EXPECT_EQ(compute(kMoe,
                    {array<float>({1, 50, 1}, tokens), array<float>({50, 3}, scores), kFirst,
                     absent(), kOnes},
                    best(1))
                .as<float>(),
            expected);
}

TEST(FallbackExperts, ScoresThatAreNoNumbersComeLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array scores = array<float>({2, 3}, {nan, 1, 2, 1, nan, nan});
  EXPECT_THAT(compute(kMoe, {kTokens, scores, kFirst, absent(), kOnes}, best(1)).as<float>(),
              ElementsAre(1000, 20));
}

// Weights 9 - 8 = 1 and 6 - 8 = -2, or 9 - 4 and 6 - 1 by zero points, times the scale of the row.
TEST(FallbackExperts, QuantisedWeightsHaveScalesAndZeroPoints) {
  const Array x = array<float>({1, 2}, {1, 10}), scores = array<float>({1, 1}, {0});
  const Array first = array<uint8_t>({1, 2, 1}, {0x69, 0x69});
  const Array second = array<uint8_t>({1, 2, 1}, {0x89, 0x98});  // 1 0 and 0 1
  const Array scales = array<float>({1, 2}, {1, .5f}), ones = array<float>({1, 2}, {1, 1});
  std::vector<Array> operands = {x, scores, first, scales, absent(), second, ones};
  EXPECT_THAT(compute(kQuantised, operands, best(1)).as<float>(), ElementsAre(-19, -9.5f));
  operands.resize(11);
  operands.push_back(array<uint8_t>({1, 1}, {0x14}));
  EXPECT_THAT(compute(kQuantised, operands, best(1)).as<float>(), ElementsAre(25, 29));
}

// Four integers in a byte, the first in its lowest bits; the fifth column begins another byte.
TEST(FallbackExperts, TwoBits) {
  const Array x = array<float>({1, 5}, {1, 10, 100, 1000, 10000});
  const Array scores = array<float>({1, 1}, {0});
  // 0 1 2 3 3 and 3 2 1 0 2.
  const Array first = array<uint8_t>({1, 2, 2}, {0xe4, 0x03, 0x1b, 0x02});
  // By the zero point 2, without one: 1 0, 0 1, -2 0, 0 -1 and 1 1.
  const Array second = array<uint8_t>({1, 5, 1}, {0x0b, 0x0e, 0x08, 0x06, 0x0f});
  const Array scales = array<float>({1, 2}, {1, .5f}),
              ones = array<float>({1, 5}, std::vector<float>(5, 1));
  Attributes attributes = best(1);
  attributes.insert(attributes.begin() + 1, {"expert_weight_bits", int64_t{2}});
  std::vector<Array> operands = {x, scores, first, scales, absent(), second, ones};
  EXPECT_THAT(compute(kQuantised, operands, attributes).as<float>(),
              ElementsAre(10988, -1049.5f, -21976, 1049.5f, 9938.5f));
  operands.resize(11);
  operands.push_back(array<uint8_t>({1, 1}, {0x0d}));  // the zero points 1 and 3
  EXPECT_THAT(compute(kQuantised, operands, attributes).as<float>(),
              ElementsAre(22099, -6605, -44198, 6605, 15494));
  // A block is a byte: the fifth column has a scale and a zero point of its own.
  attributes.insert(attributes.begin() + 1, {"block_size", int64_t{4}});
  operands[3] = array<float>({1, 2, 2}, {1, .5f, .5f, 2});
  operands[6] = array<float>({1, 5, 1}, std::vector<float>(5, 1));
  operands.back() = array<uint8_t>({1, 2, 1}, {0x0d, 0x06});  // 1 3 and 2 1
  EXPECT_THAT(compute(kQuantised, operands, attributes).as<float>(),
              ElementsAre(2099, 18950.5f, -4198, -18950.5f, 21049.5f));
}

TEST(FallbackExperts, WeightsOfAnotherRouterMixTheResults) {
  const Array weights = array<uint8_t>({3, 1, 1}, {129, 130, 131});
  const Array scales = array<float>({3, 1}, {1, 1, 1});
  std::vector<Array> operands = {kTokens, kScores, weights, scales, absent(), weights, scales};
  operands.resize(14);
  operands.push_back(array<float>({2, 3}, {5, 6, 7, 8, 9, 10}));
  Attributes attributes = best(1);
  attributes.insert(attributes.begin() + 1, {"expert_weight_bits", int64_t{8}});
  EXPECT_THAT(compute(kQuantised, operands, attributes).as<float>(), ElementsAre(63, 16));
}

TEST(FallbackExperts, RefuseWhatDoesNotFit) {
  const auto refused = [](const std::vector<Array>& operands, const Attributes& attributes) {
    return refusal(kMoe, operands, attributes).message();
  };
  EXPECT_THAT(refused({kTokens, kScores, kFirst, absent(), kOnes}, best(4)),
              HasSubstr("k is 4, but there are 3 experts"));
  EXPECT_THAT(refused({kTokens, kScores, kFirst}, best(1)), HasSubstr("input 4 is missing"));
  EXPECT_THAT(refused({kTokens, kTokens, kFirst, absent(), kOnes}, best(1)),
              HasSubstr("input 2 must be FLOAT32 [1,1,1]"));
  EXPECT_THAT(refused({kTokens, kScores, kFirst, kFirst, kOnes}, best(1)), HasSubstr("a bias"));
  EXPECT_THAT(refused({kTokens, kScores, kFirst, absent(), kOnes},
                      {{"activation_type", std::string("swiglu")}}),
              HasSubstr("swiglu_fusion"));
  EXPECT_THAT(refused({kTokens, kScores, kFirst, absent(), kOnes},
                      {{"activation_type", std::string("sine")}}),
              HasSubstr("'sine'"));
  // 2^62 + 1 times 4 has the lower bits of 4.
  const Array many_scores = array<float>({(int64_t{1} << 62) + 1, 0}, {});
  EXPECT_THAT(
      refused({array<float>({1, 4}, {1, 2, 3, 4}), many_scores, kFirst, absent(), kOnes}, best(1)),
      HasSubstr("do not fit"));
  const Array bytes = array<uint8_t>({3, 1, 1}, {0, 0, 0});
  EXPECT_THAT(refusal(kQuantised, {kTokens, kScores, bytes, absent(), absent(), bytes},
                      {{"block_size", int64_t{1}}})
                  .message(),
              HasSubstr("whole bytes"));
}

}  // namespace
}  // namespace millrace::fallback
