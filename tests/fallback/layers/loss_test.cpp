#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

const Array kScores = array<float>({2, 3}, {1, 2, 3, 30, 20, 10});
const Array kLabels = vector_of<int64_t>({2, 0});

graph::Attribute reduction(const char* name) {
  return {"reduction", std::string(name)};
}

TEST(FallbackNegativeLogLikelihood, WeighsLabels) {
  const auto weights = vector_of<float>({1, 1, 3});
  EXPECT_THAT(compute("NegativeLogLikelihoodLoss", {kScores, kLabels}).as<float>(),
              ElementsAre(-16.5));
  EXPECT_THAT(compute("NegativeLogLikelihoodLoss", {kScores, kLabels, weights}).as<float>(),
              ElementsAre(-39.0 / 4));
  const auto each =
      compute("NegativeLogLikelihoodLoss", {kScores, kLabels, weights}, {reduction("none")});
  EXPECT_EQ(each.dims, Dims{2});
  EXPECT_THAT(each.as<float>(), ElementsAre(-9, -30));
}

TEST(FallbackNegativeLogLikelihood, LeavesTheIgnoredLabelOut) {
  const test::Attributes ignore = {{"ignore_index", int64_t{-100}}, reduction("mean")};
  EXPECT_THAT(compute("NegativeLogLikelihoodLoss", {kScores, vector_of<int64_t>({-100, 0})}, ignore)
                  .as<float>(),
              ElementsAre(-30));
}

TEST(FallbackLoss, RefusesLabelsThatAreNoClasses) {
  for (const int64_t label : {3, -1}) {
    EXPECT_THAT(
        refusal("SoftmaxCrossEntropyLoss", {kScores, vector_of<int64_t>({0, label})}).message(),
        HasSubstr("is not one of 3 classes"));
  }
  EXPECT_THAT(refusal("SoftmaxCrossEntropyLoss", {kScores, vector_of<int64_t>({0})}).message(),
              HasSubstr("shape"));
  EXPECT_THAT(
      refusal("SoftmaxCrossEntropyLoss", {kScores, kLabels}, {reduction("median")}).message(),
      HasSubstr("'median'"));
}

TEST(FallbackSoftmaxCrossEntropy, GivesLogProbabilitiesToo) {
  const auto results =
      compute_all("SoftmaxCrossEntropyLoss", {kScores, kLabels}, {reduction("sum")}, 2);
  EXPECT_THAT(results[0].as<float>(), ElementsAre(FloatNear(0.407651f, 1e-5f)));
  EXPECT_NEAR(results[1].as<float>()[2], -0.407606f, 1e-5f);
  EXPECT_NEAR(results[1].as<float>()[5], -20.000045f, 1e-4f);
}

}  // namespace
}  // namespace millrace::fallback
