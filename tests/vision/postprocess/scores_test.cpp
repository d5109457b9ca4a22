#include "vision/postprocess/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::IsEmpty;
using ::testing::Pointwise;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<uint32_t> indices(const std::vector<RankedClass>& classes) {
  std::vector<uint32_t> result;
  for (const RankedClass& one : classes) result.push_back(one.index);
  return result;
}

TEST(TopClasses, BestComeFirstAndTheLowerIndexOfEquals) {
  const std::vector<float> scores = {1, 3, 2, 3, -1};
  EXPECT_THAT(indices(top_classes(scores, 4)), ElementsAre(1, 3, 2, 0));
  EXPECT_EQ(top_classes(scores, 1)[0].score, 3);
}

TEST(TopClasses, MoreThanThereAreGivesAll) {
  EXPECT_THAT(indices(top_classes(std::vector<float>{1, 2}, 4'000'000'000U)), ElementsAre(1, 0));
  EXPECT_THAT(top_classes({}, 5), IsEmpty());
  EXPECT_THAT(top_classes(std::vector<float>{1, 2}, 0), IsEmpty());
}

TEST(TopClasses, NanComesAfterEveryNumber) {
  const std::vector<float> scores = {kNan, -kInfinity, kNan, kInfinity};
  EXPECT_THAT(indices(top_classes(scores, 4)), ElementsAre(3, 1, 0, 2));
}

TEST(Softmax, GivesTheProbabilitiesOfTheDefinition) {
  std::vector<float> logits = {0.5F, -2, 3, 3};
  std::vector<float> expected;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit});
  for (const float logit : logits)
    expected.push_back(static_cast<float>(std::exp(double{logit}) / sum));
  softmax(logits);
  EXPECT_THAT(logits, Pointwise(FloatNear(1e-6F), expected));
}

TEST(Softmax, LargeLogitsDoNotOverflow) {
  std::vector<float> logits = {3e38F, -3e38F, 3e38F};
  softmax(logits);
  EXPECT_THAT(logits, ElementsAre(0.5F, 0, 0.5F));
}

TEST(Softmax, InfiniteLogitsShareTheProbabilityAndNanHasNone) {
  std::vector<float> logits = {kInfinity, 1, kNan, kInfinity, -kInfinity};
  softmax(logits);
  EXPECT_THAT(logits, ElementsAre(0.5F, 0, 0, 0.5F, 0));
  for (const float hopeless : {kNan, -kInfinity}) {
    std::vector<float> none(3, hopeless);
    softmax(none);
    EXPECT_THAT(none, Each(0.0F));
  }
}

TEST(Normalise, StretchesTheFiniteScoresToOne) {
  std::vector<float> scores = {-1, 3, 1, kInfinity, -kInfinity};
  normalise(scores);
  EXPECT_THAT(scores, ElementsAre(0, 1, 0.5F, 1, 0));
}

TEST(Normalise, EqualScoresBecomeZeroAndExtremeOnesStayFinite) {
  std::vector<float> equal = {7, 7};
  normalise(equal);
  EXPECT_THAT(equal, ElementsAre(0, 0));
  std::vector<float> extreme = {-3e38F, 3e38F, 0};
  normalise(extreme);
  EXPECT_THAT(extreme, ElementsAre(0, 1, 0.5F));
}

TEST(Calibration, PlattKeepsTheOrderForAPositiveSlope) {
  std::vector<float> scores = {0, 2, -2};
  calibrate_platt(scores, 0.5F, 1);
  const auto expected = [](double score) { return 1 / (1 + std::exp(-(0.5 * score + 1))); };
  EXPECT_THAT(scores, ElementsAre(FloatNear(static_cast<float>(expected(0)), 1e-6F),
                                  FloatNear(static_cast<float>(expected(2)), 1e-6F),
                                  FloatNear(static_cast<float>(expected(-2)), 1e-6F)));
}

TEST(Calibration, TemperatureDividesBeforeSoftmax) {
  std::vector<float> scores = {2, 4};
  calibrate_temperature(scores, 2);
  const auto expected = static_cast<float>(1 / (1 + std::exp(1.0)));
  EXPECT_THAT(scores, ElementsAre(FloatNear(expected, 1e-6F), FloatNear(1 - expected, 1e-6F)));
}

TEST(Bias, IsSubtracted) {
  std::vector<float> scores = {1, 2};
  subtract_bias(scores, {});
  EXPECT_THAT(scores, ElementsAre(1, 2));
  subtract_bias(scores, std::vector<float>{0.5F, -1});
  EXPECT_THAT(scores, ElementsAre(0.5F, 3));
}

TEST(ClassesFrom, ThresholdItselfCounts) {
  const std::vector<float> scores = {4, 3.9F, kNan, 5};
  EXPECT_THAT(indices(classes_from(scores, 4, 10)), ElementsAre(3, 0));
  EXPECT_THAT(indices(classes_from(scores, 4, 1)), ElementsAre(3));
  EXPECT_THAT(classes_from(scores, 6, 10), IsEmpty());
}

TEST(Outliers, LieFarFromTheMeanOnEitherSide) {
  std::vector<float> scores(100, 0);
  scores[7] = 50;
  scores[8] = -50;
  scores[9] = kInfinity;
  EXPECT_THAT(indices(outliers(scores, 3, 10)), ElementsAre(7, 8));
  EXPECT_THAT(outliers(std::vector<float>(10, 1), 3, 10), IsEmpty());
  EXPECT_THAT(outliers(std::vector<float>(2, kNan), 3, 10), IsEmpty());
}

TEST(Entropy, IsZeroForCertaintyAndTheLogarithmForIgnorance) {
  EXPECT_EQ(entropy(std::vector<float>{0, 1, 0}), 0);
  EXPECT_NEAR(entropy(std::vector<float>(8, 0.125F)), std::log(8.0), 1e-6);
  EXPECT_EQ(entropy({}), 0);
}

}  // namespace
}  // namespace millrace::vision
