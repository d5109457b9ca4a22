#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

const test::Attributes kNoEpsilon = {{"epsilon", 0.0f}};

TEST(FallbackLayerNormalization, GivesMeanAndInverseDeviation) {
  const auto x = array<float>({2, 2}, {1, 3, 10, 20});
  const auto results =
      compute_all("LayerNormalization", {x, vector_of<float>({2, 4}), vector_of<float>({0.5, 1})},
                  kNoEpsilon, 3);
  EXPECT_THAT(results[0].as<float>(), ElementsAre(-1.5, 5, -1.5, 5));
  EXPECT_EQ(results[1].dims, (Dims{2, 1}));
  EXPECT_THAT(results[1].as<float>(), ElementsAre(2, 15));
  EXPECT_THAT(results[2].as<float>(), ElementsAre(1, FloatNear(0.2f, 1e-6f)));
}

TEST(FallbackLayerNormalization, BroadcastsScaleOverTheGroup) {
  const auto x = array<float>({1, 2, 2}, {1, 3, 1, 3});
  const test::Attributes from_one = {{"axis", int64_t{1}}, {"epsilon", 0.0f}};
  EXPECT_THAT(
      compute("LayerNormalization", {x, array<float>({2, 1}, {1, 10})}, from_one).as<float>(),
      ElementsAre(-1, 1, -10, 10));
  EXPECT_THAT(refusal("LayerNormalization", {x, vector_of<float>({1, 2, 3})}).message(),
              HasSubstr("do not broadcast"));
}

TEST(FallbackInstanceNormalization, ScalesEachChannel) {
  const auto x = array<float>({1, 2, 2}, {1, 3, 10, 20});
  const auto scale = vector_of<float>({1, 2}), bias = vector_of<float>({0, 5});
  EXPECT_THAT(compute("InstanceNormalization", {x, scale, bias}, kNoEpsilon).as<float>(),
              ElementsAre(-1, 1, 3, 7));
  EXPECT_THAT(refusal("InstanceNormalization", {x, vector_of<float>({1}), bias}).message(),
              HasSubstr("input 1 is [1], not [2]"));
}

// The expected values follow from the formulas of the standard, operator set 14.
TEST(FallbackBatchNormalization, TakesTheMomentsOfItsInputInTraining) {
  const auto x = array<float>({2, 2, 1}, {1, 10, 3, 20});
  const auto scale = vector_of<float>({1, 2}), bias = vector_of<float>({0, 5}),
             mean = vector_of<float>({10, 20}), variance = vector_of<float>({2, 4});
  const test::Attributes training = {
      {"epsilon", 0.0f}, {"momentum", 0.75f}, {"training_mode", int64_t{1}}};
  const auto results =
      compute_all("BatchNormalization", {x, scale, bias, mean, variance}, training, 3);
  EXPECT_THAT(results[0].as<float>(), ElementsAre(-1, 3, 1, 7));
  EXPECT_THAT(results[1].as<float>(), ElementsAre(8, 18.75));    // means 2 and 15
  EXPECT_THAT(results[2].as<float>(), ElementsAre(1.75, 9.25));  // variances 1 and 25
  EXPECT_THAT(compute("BatchNormalization", {x, scale, bias, mean, variance}, training).as<float>(),
              ElementsAre(-1, 3, 1, 7));
}

TEST(FallbackBatchNormalization, HasOneOutputOtherwise) {
  const auto x = array<float>({1, 1, 2}, {1, 3});
  const auto c = vector_of<float>({4});
  EXPECT_THAT(compute("BatchNormalization", {x, c, c, c, c}, kNoEpsilon).as<float>(),
              ElementsAre(-2, 2));
}

TEST(FallbackGroupNormalization, NormalisesGroupsAndScalesChannels) {
  const auto x = array<float>({1, 4, 1}, {1, 3, 10, 20});
  const test::Attributes two = {{"epsilon", 0.0f}, {"num_groups", int64_t{2}}};
  const auto scale = vector_of<float>({1, 2, 3, 4}), bias = vector_of<float>({0, 0, 0, 1});
  EXPECT_THAT(compute("GroupNormalization", {x, scale, bias}, two).as<float>(),
              ElementsAre(-1, 2, -3, 5));
  EXPECT_THAT(
      refusal("GroupNormalization", {x, scale, bias}, {{"num_groups", int64_t{3}}}).message(),
      HasSubstr("num_groups"));
}

TEST(FallbackLrn, SumsOverTheNeighbouringChannels) {
  const auto x = array<float>({1, 3, 1}, {1, 2, 3});
  const test::Attributes attributes = {
      {"alpha", 3.0f}, {"beta", 1.0f}, {"bias", 0.0f}, {"size", int64_t{3}}};
  EXPECT_THAT(compute("LRN", {x}, attributes).as<float>(),
              ElementsAre(FloatNear(1.0f / 5, 1e-6f), FloatNear(2.0f / 14, 1e-6f),
                          FloatNear(3.0f / 13, 1e-6f)));
  EXPECT_THAT(refusal("LRN", {x}).message(), HasSubstr("size"));
}

TEST(FallbackLpNormalization, KeepsZeros) {
  EXPECT_THAT(compute("LpNormalization", {array<float>({2, 2}, {3, 4, 0, 0})}).as<float>(),
              ElementsAre(FloatNear(0.6f, 1e-6f), FloatNear(0.8f, 1e-6f), 0, 0));
  EXPECT_THAT(
      compute("LpNormalization", {vector_of<float>({1, -3})}, {{"p", int64_t{1}}}).as<float>(),
      ElementsAre(0.25, -0.75));
}

// Expected values computed with numpy, here and below.
TEST(FallbackGroupNormalization, TakesAScaleForEachGroup) {
  const auto x = array<float>({1, 4, 2}, {1, 2, 3, 5, 2, 2, 4, 8});
  const auto y =
      compute("GroupNormalization", {x, vector_of<float>({2, 3}), vector_of<float>({1, -1})},
              {{"num_groups", int64_t{2}}});
  EXPECT_THAT(y.as<float>(),
              ElementsAre(FloatNear(-1.3664265f, 1e-5f), FloatNear(-0.0141828f, 1e-5f),
                          FloatNear(1.3380609f, 1e-5f), FloatNear(4.0425484f, 1e-5f),
                          FloatNear(-3.4494877f, 1e-5f), FloatNear(-3.4494877f, 1e-5f),
                          FloatNear(-1, 1e-5f), FloatNear(3.8989754f, 1e-5f)));
}

TEST(FallbackRmsNormalization, SubtractsNoMean) {
  const auto x = array<float>({2, 2}, {3, 4, 6, 8});
  EXPECT_THAT(compute("RMSNormalization", {x, vector_of<float>({1, 2})}).as<float>(),
              ElementsAre(FloatNear(0.8485278f, 1e-6f), FloatNear(2.2627408f, 1e-6f),
                          FloatNear(0.8485281f, 1e-6f), FloatNear(2.2627415f, 1e-6f)));
  EXPECT_THAT(refusal("RMSNormalization", {x, vector_of<float>({1, 2, 3})}).message(),
              HasSubstr("broadcast"));
}

TEST(FallbackMeanVarianceNormalization, GoesOverTheAxesThatAreNamed) {
  const auto x = array<float>({2, 2}, {1, 10, 3, 30});
  EXPECT_THAT(compute("MeanVarianceNormalization", {x}, {{"axes", Dims{0}}}).as<float>(),
              ElementsAre(-1, -1, 1, 1));
  EXPECT_THAT(refusal("MeanVarianceNormalization", {x}).message(), HasSubstr("axis 2"));
}

TEST(FallbackSimplifiedLayerNormalization, DividesByTheRootOfTheMeanSquare) {
  const auto x = array<float>({2, 2}, {1, 7, 0, 0});
  const auto results = compute_all("SimplifiedLayerNormalization", {x, vector_of<float>({1, 2})},
                                   {{"epsilon", 0.25f}}, 2);
  EXPECT_THAT(results[0].as<float>(),
              ElementsAre(FloatNear(0.19901f, 1e-4f), FloatNear(2.78606f, 1e-4f), 0, 0));
  EXPECT_EQ(results[1].dims, (Dims{2, 1}));
  EXPECT_THAT(results[1].as<float>(), ElementsAre(FloatNear(0.19901f, 1e-4f), 2));
  EXPECT_THAT(refusal("SimplifiedLayerNormalization", {x, vector_of<float>({1, 2, 3})}).message(),
              HasSubstr("its scale"));
}

}  // namespace
}  // namespace millrace::fallback
