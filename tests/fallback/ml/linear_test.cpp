// Linear models and support vector machines. Expected values are those of ONNX Runtime 1.30, where
// it does what the standard says.
#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::compute_all;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using Floats = std::vector<float>;

const Array kRows = array<float>({4, 2}, {-1, 2, 0.5f, -3, 2, 1, 0, 0});

TEST(FallbackLinear, RegressorOfSeveralTargets) {
  const Attributes attributes = {{"coefficients", Floats{.3f, -.2f, .5f, .6f}},
                                 {"intercepts", Floats{.1f, .2f}},
                                 {"targets", int64_t{2}}};
  const auto y = compute("ai.onnx.ml.LinearRegressor", {kRows}, attributes);
  EXPECT_EQ(y.dims, (Dims{4, 2}));
  EXPECT_THAT(y.as<float>(),
              Pointwise(FloatNear(1e-6f), {-.6f, .9f, .85f, -1.35f, .5f, 1.8f, .1f, .2f}));
  EXPECT_THAT(compute("ai.onnx.ml.LinearRegressor", {array<int64_t>({2}, {10, 20})},
                      {{"coefficients", Floats{1, 2}}})
                  .as<float>(),
              ElementsAre(50));
}

TEST(FallbackLinear, ClassifierWithOneScoreForTwoClasses) {
  const Attributes plain = {{"classlabels_ints", Dims{7, 9}},
                            {"coefficients", Floats{.3f, -.2f}},
                            {"intercepts", Floats{.1f}}};
  const auto results = compute_all("ai.onnx.ml.LinearClassifier", {kRows}, plain, 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(7, 9, 9, 9));
  EXPECT_THAT(results[1].as<float>(),
              Pointwise(FloatNear(1e-6f), {1.6f, -.6f, .15f, .85f, .5f, .5f, .9f, .1f}));
  Attributes logistic = plain;
  logistic.push_back({"post_transform", std::string("LOGISTIC")});
  EXPECT_THAT(
      compute_all("ai.onnx.ml.LinearClassifier", {kRows}, logistic, 2)[1].as<float>(),
      Pointwise(FloatNear(1e-4f), {.6457f, .3543f, .2994f, .7006f, .3775f, .6225f, .475f, .525f}));
}

TEST(FallbackLinear, ClassifierChoosesTheHighestScore) {
  const Attributes attributes = {{"classlabels_ints", Dims{7, 9, 4}},
                                 {"coefficients", Floats{.3f, -.2f, -.3f, .2f, .5f, .6f}},
                                 {"intercepts", Floats{.1f, -.1f, .2f}},
                                 {"post_transform", std::string("SOFTMAX")}};
  const auto results = compute_all("ai.onnx.ml.LinearClassifier", {kRows}, attributes, 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(4, 7, 4, 4));
  EXPECT_THAT(results[1].as<float>(),
              Pointwise(FloatNear(1e-4f), {.1136f, .3772f, .5092f, .7731f, .1412f, .0857f, .1985f,
                                           .073f, .7284f, .342f, .28f, .378f}));
}

TEST(FallbackLinear, RefusesModelsThatDoNotFitTheFeatures) {
  EXPECT_THAT(
      refusal("ai.onnx.ml.LinearRegressor", {kRows}, {{"coefficients", Floats{1}}}).message(),
      HasSubstr("1 coefficients for 1 targets of 2 features"));
  EXPECT_THAT(refusal("ai.onnx.ml.LinearRegressor", {kRows},
                      {{"coefficients", Floats{1, 2}}, {"intercepts", Floats{1, 2}}})
                  .message(),
              HasSubstr("2 intercepts for 1 targets"));
  EXPECT_THAT(
      refusal("ai.onnx.ml.LinearClassifier", {kRows}, {{"coefficients", Floats{1, 2}}}).message(),
      HasSubstr("no class labels"));
}

// Three features, five support vectors.
const Array kSamples = array<float>({2, 3}, {1, -2, .5f, 0, .25f, -1});
const Floats kVectors = {.33f,  1.49f, -.21f,  .31f, -.85f, -2.55f, .65f, .86f,
                         -.74f, 2.27f, -1.45f, .05f, -.19f, 1.53f,  1.47f};
const Floats kKernel = {.4f, .5f, 3};

TEST(FallbackSvm, RegressorWithEachKernel) {
  const std::pair<const char*, Floats> cases[] = {{"LINEAR", {1.8805f, .84775f}},
                                                  {"POLY", {6.97185f, .07663f}},
                                                  {"RBF", {.42597f, .60229f}},
                                                  {"SIGMOID", {.50138f, .68639f}}};
  for (const auto& [kernel, expected] : cases) {
    const Attributes attributes = {{"coefficients", Floats{.5f, -.2f, .3f, .4f, -.6f}},
                                   {"kernel_params", kKernel},
                                   {"kernel_type", std::string(kernel)},
                                   {"n_supports", int64_t{5}},
                                   {"rho", Floats{.25f}},
                                   {"support_vectors", kVectors}};
    const auto y = compute("ai.onnx.ml.SVMRegressor", {kSamples}, attributes);
    EXPECT_EQ(y.dims, (Dims{2, 1}));
    EXPECT_THAT(y.as<float>(), Pointwise(FloatNear(1e-4f), expected)) << kernel;
  }
}

TEST(FallbackSvm, RegressorWithoutVectorsIsLinear) {
  EXPECT_THAT(compute("ai.onnx.ml.SVMRegressor", {kSamples},
                      {{"coefficients", Floats{1, 2, 4}}, {"rho", Floats{.5f}}})
                  .as<float>(),
              ElementsAre(-.5f, -3));
  EXPECT_THAT(
      compute("ai.onnx.ml.SVMRegressor", {kSamples},
              {{"coefficients", Floats{1, 2, 4}}, {"one_class", int64_t{1}}, {"rho", Floats{1}}})
          .as<float>(),
      ElementsAre(-1, -1));
}

Attributes three_classes() {
  return {{"classlabels_ints", Dims{7, 9, 4}},
          {"coefficients", Floats{.5f, -.2f, .3f, -.4f, -.6f, .1f, .25f, -.3f, .4f, -.15f}},
          {"kernel_params", kKernel},
          {"kernel_type", std::string("RBF")},
          {"rho", Floats{.1f, -.2f, .15f}},
          {"support_vectors", kVectors},
          {"vectors_per_class", Dims{2, 2, 1}}};
}

TEST(FallbackSvm, ClassifierGivesAScoreForEachPair) {
  const auto results = compute_all("ai.onnx.ml.SVMClassifier", {kSamples}, three_classes(), 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(9, 4));
  EXPECT_THAT(results[1].as<float>(), Pointwise(FloatNear(1e-4f), {-.06534f, -.19813f, .31519f,
                                                                   .45843f, -.12972f, -.05887f}));
}

TEST(FallbackSvm, ClassifierGivesProbabilities) {
  Attributes attributes = three_classes();
  attributes.insert(attributes.begin() + 4,
                    {{"prob_a", Floats{-1.5f, -.7f, -2}}, {"prob_b", Floats{.2f, .1f, -.3f}}});
  const auto results = compute_all("ai.onnx.ml.SVMClassifier", {kSamples}, attributes, 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(9, 4));
  EXPECT_THAT(results[1].as<float>(),
              Pointwise(FloatNear(1e-4f), {.28239f, .47512f, .24249f, .36175f, .29893f, .33933f}));
}

TEST(FallbackSvm, ClassifierOfTwoClasses) {
  const Attributes attributes = {{"classlabels_ints", Dims{7, 9}},
                                 {"coefficients", Floats{.5f, .2f, -.3f, -.4f, -.6f}},
                                 {"kernel_params", kKernel},
                                 {"kernel_type", std::string("RBF")},
                                 {"rho", Floats{.1f}},
                                 {"support_vectors", kVectors},
                                 {"vectors_per_class", Dims{2, 3}}};
  const auto results = compute_all("ai.onnx.ml.SVMClassifier", {kSamples}, attributes, 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(9, 7));
  EXPECT_THAT(results[1].as<float>(),
              Pointwise(FloatNear(1e-4f), {.07394f, -.07394f, -.09743f, .09743f}));
}

TEST(FallbackSvm, RefusesListsThatDoNotFit) {
  const auto with = [](const char* name, graph::Attribute::Value value) {
    Attributes attributes = three_classes();
    std::ranges::find(attributes, std::string_view(name), &graph::Attribute::name)->value =
        std::move(value);
    return refusal("ai.onnx.ml.SVMClassifier", {kSamples}, attributes).message();
  };
  EXPECT_THAT(with("coefficients", Floats{1}), HasSubstr("1 entries; expected 10"));
  EXPECT_THAT(with("rho", Floats{1}), HasSubstr("rho has 1 entries; expected 3"));
  EXPECT_THAT(with("support_vectors", Floats{1, 2, 3}), HasSubstr("support_vectors"));
  EXPECT_THAT(with("vectors_per_class", Dims{1, 2}), HasSubstr("vectors_per_class"));
  EXPECT_THAT(with("vectors_per_class", Dims{-1, 3, 3}), HasSubstr("vectors_per_class has -1"));
  EXPECT_THAT(with("kernel_params", Floats{}), HasSubstr("kernel_params"));
  EXPECT_THAT(with("kernel_type", std::string("CUBIC")), HasSubstr("CUBIC"));
}

}  // namespace
}  // namespace millrace::fallback
