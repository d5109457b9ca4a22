#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::compute_all;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

const float kNan = std::numeric_limits<float>::quiet_NaN();

void set(Attributes& attributes, const std::string& name, graph::Attribute::Value value) {
  const auto entry = std::ranges::find(attributes, name, &graph::Attribute::name);
  if (entry != attributes.end()) {
    entry->value = std::move(value);
    return;
  }
  attributes.push_back({name, std::move(value)});
  std::ranges::sort(attributes, {}, &graph::Attribute::name);
}

// Two trees of one decision each: feature 0 against 0, and against 1. Leaves have the weights of
// `weights`, in the order first and second branch of the first tree, of the second one.
Attributes two_stumps(const std::string& prefix, const Dims& ids, const Floats& weights) {
  Attributes attributes;
  set(attributes, "nodes_treeids", Dims{0, 0, 0, 1, 1, 1});
  set(attributes, "nodes_nodeids", Dims{0, 1, 2, 0, 1, 2});
  set(attributes, "nodes_featureids", Dims(6, 0));
  set(attributes, "nodes_values", Floats{0, 0, 0, 1, 0, 0});
  set(attributes, "nodes_modes", Texts{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"});
  set(attributes, "nodes_truenodeids", Dims{1, 0, 0, 1, 0, 0});
  set(attributes, "nodes_falsenodeids", Dims{2, 0, 0, 2, 0, 0});
  set(attributes, prefix + "_treeids", Dims{0, 0, 1, 1});
  set(attributes, prefix + "_nodeids", Dims{1, 2, 1, 2});
  set(attributes, prefix + "_ids", ids);
  set(attributes, prefix + "_weights", weights);
  return attributes;
}

Attributes regression(const Floats& weights = {1, 2, 10, 20}) {
  Attributes attributes = two_stumps("target", {0, 0, 0, 0}, weights);
  set(attributes, "n_targets", int64_t{1});
  return attributes;
}

const char* const kRegressor = "ai.onnx.ml.TreeEnsembleRegressor";
const char* const kClassifier = "ai.onnx.ml.TreeEnsembleClassifier";
const Array kThreeRows = array<float>({3, 1}, {-1, 0.5f, 2});

TEST(FallbackTrees, RegressorSumsTheLeavesOfARow) {
  const auto y = compute(kRegressor, {kThreeRows}, regression());
  EXPECT_EQ(y.dims, (Dims{3, 1}));
  EXPECT_THAT(y.as<float>(), ElementsAre(11, 12, 22));
  EXPECT_THAT(compute(kRegressor, {array<int64_t>({2, 1}, {-1, 2})}, regression()).as<float>(),
              ElementsAre(11, 22));
}

TEST(FallbackTrees, RegressorAggregatesAndAddsBaseValues) {
  const std::pair<const char*, Floats> cases[] = {{"SUM", {111, 112, 122}},
                                                  {"AVERAGE", {105.5, 106, 111}},
                                                  {"MIN", {101, 102, 102}},
                                                  {"MAX", {110, 110, 120}}};
  for (const auto& [aggregate, expected] : cases) {
    Attributes attributes = regression();
    set(attributes, "aggregate_function", std::string(aggregate));
    set(attributes, "base_values", Floats{100});
    EXPECT_EQ(compute(kRegressor, {kThreeRows}, attributes).as<float>(), expected) << aggregate;
  }
}

TEST(FallbackTrees, EachModeAndMissingValues) {
  const Array x = array<float>({4, 1}, {-1, 0, 1, kNan});
  const std::pair<const char*, Floats> cases[] = {
      {"BRANCH_LEQ", {1, 1, 2, 2}}, {"BRANCH_LT", {1, 2, 2, 2}}, {"BRANCH_GTE", {2, 1, 1, 2}},
      {"BRANCH_GT", {2, 2, 1, 2}},  {"BRANCH_EQ", {2, 1, 2, 2}}, {"BRANCH_NEQ", {1, 2, 1, 1}}};
  for (const auto& [mode, expected] : cases) {
    Attributes attributes = regression({1, 2, 0, 0});
    set(attributes, "nodes_modes", Texts{mode, "LEAF", "LEAF", mode, "LEAF", "LEAF"});
    EXPECT_EQ(compute(kRegressor, {x}, attributes).as<float>(), expected) << mode;
    set(attributes, "nodes_missing_value_tracks_true", Dims(6, 1));
    EXPECT_EQ(compute(kRegressor, {x}, attributes).as<float>()[3], 1) << mode;
  }
}

TEST(FallbackTrees, OrderOfNodesAndLeavesDoesNotMatter) {
  Attributes attributes;
  set(attributes, "nodes_treeids", Dims{7, 7, 7});
  set(attributes, "nodes_nodeids", Dims{30, 20, 10});
  set(attributes, "nodes_featureids", Dims{0, 1, 0});
  set(attributes, "nodes_values", Floats{0, 5, 0});
  set(attributes, "nodes_modes", Texts{"LEAF", "BRANCH_LT", "LEAF"});
  set(attributes, "nodes_truenodeids", Dims{0, 30, 0});
  set(attributes, "nodes_falsenodeids", Dims{0, 10, 0});
  set(attributes, "n_targets", int64_t{2});
  set(attributes, "target_treeids", Dims{7, 7, 7});
  set(attributes, "target_nodeids", Dims{10, 30, 10});
  set(attributes, "target_ids", Dims{1, 0, 0});
  set(attributes, "target_weights", Floats{3, 1, 2});
  EXPECT_THAT(compute(kRegressor, {array<float>({2, 2}, {9, 4, 9, 6})}, attributes).as<float>(),
              ElementsAre(1, 0, 2, 3));
}

Attributes classification(const Dims& ids, const Floats& weights, const Dims& labels) {
  Attributes attributes = two_stumps("class", ids, weights);
  set(attributes, "classlabels_int64s", labels);
  return attributes;
}

// Values of ONNX Runtime 1.30.
TEST(FallbackTrees, ClassifierOfThreeClasses) {
  const auto results =
      compute_all(kClassifier, {kThreeRows},
                  classification({0, 1, 0, 2}, {-.3f, .4f, .1f, -.6f}, {7, 9, 4}), 2);
  EXPECT_THAT(results[0].as<int64_t>(), ElementsAre(7, 9, 9));
  EXPECT_THAT(results[1].as<float>(),
              ElementsAre(FloatNear(-.2f, 1e-6f), 0, 0, .1f, .4f, 0, 0, .4f, -.6f));
  Attributes with_base = classification({0, 1, 0, 2}, {-.3f, .4f, .1f, -.6f}, {7, 9, 4});
  set(with_base, "base_values", Floats{.25f, .5f, .1f});
  EXPECT_THAT(compute(kClassifier, {kThreeRows}, with_base).as<int64_t>(), ElementsAre(9, 9, 9));
}

struct TwoClasses {
  const char* transform;
  Floats weights;
  Dims labels;
  Floats scores;
};

// Weights for one class only: without a negative one they are probabilities. Values of ONNX Runtime
// 1.30.
TEST(FallbackTrees, ClassifierOfTwoClassesWithOneScore) {
  const Floats shares = {.1f, .4f, .2f, .3f}, others = {-.3f, .4f, .1f, -.6f};
  const TwoClasses cases[] = {
      {"NONE", shares, {7, 9, 9}, {.7f, .3f, .4f, .6f, .3f, .7f}},
      {"NONE", others, {7, 9, 7}, {.2f, -.2f, -.5f, .5f, .2f, -.2f}},
      {"LOGISTIC", shares, {7, 9, 9}, {.4256f, .5744f, .3543f, .6457f, .3318f, .6682f}},
      {"LOGISTIC", others, {7, 9, 7}, {.5498f, .4502f, .3775f, .6225f, .5498f, .4502f}}};
  for (const TwoClasses& test : cases) {
    Attributes attributes = classification({0, 0, 0, 0}, test.weights, {7, 9});
    set(attributes, "post_transform", std::string(test.transform));
    const auto results = compute_all(kClassifier, {kThreeRows}, attributes, 2);
    EXPECT_EQ(results[0].as<int64_t>(), test.labels) << test.transform;
    EXPECT_THAT(results[1].as<float>(),
                ::testing::Pointwise(::testing::FloatNear(1e-4f), test.scores))
        << test.transform;
  }
}

TEST(FallbackTrees, ClassesThatHaveNamesAreNumbered) {
  Attributes attributes = two_stumps("class", {0, 1, 0, 2}, {-.3f, .4f, .1f, -.6f});
  set(attributes, "classlabels_strings", Texts{"cat", "dog", "fish"});
  EXPECT_THAT(compute(kClassifier, {kThreeRows}, attributes).as<int64_t>(), ElementsAre(0, 1, 1));
}

TEST(FallbackTrees, TransformsScores) {
  Attributes attributes = regression({.25f, .5f, .25f, .25f});
  set(attributes, "post_transform", std::string("PROBIT"));
  EXPECT_THAT(
      compute(kRegressor, {kThreeRows}, attributes).as<float>(),
      ElementsAre(FloatNear(0, 1e-6f), FloatNear(.6744898f, 1e-6f), FloatNear(.6744898f, 1e-6f)));
  Attributes zeros = classification({0, 1, 0, 2}, {-.3f, .4f, .1f, -.6f}, {7, 9, 4});
  set(zeros, "post_transform", std::string("SOFTMAX_ZERO"));
  EXPECT_THAT(compute_all(kClassifier, {kThreeRows}, zeros, 2)[1].as<float>(),
              ElementsAre(1, 0, 0, FloatNear(.4256f, 1e-4f), FloatNear(.5744f, 1e-4f), 0, 0,
                          FloatNear(.7311f, 1e-4f), FloatNear(.2689f, 1e-4f)));
}

// Node 0 asks feature 0, node 1 feature 1, and node 2 is a tree of its own.
Attributes ensemble() {
  Attributes attributes;
  set(attributes, "n_targets", int64_t{2});
  set(attributes, "tree_roots", Dims{0, 2});
  set(attributes, "nodes_featureids", Dims{0, 1, 0});
  set(attributes, "nodes_modes", Dims{0, 1, 3});
  set(attributes, "nodes_splits", Floats{2, 3, 1});
  set(attributes, "nodes_truenodeids", Dims{1, 0, 1});
  set(attributes, "nodes_trueleafs", Dims{0, 1, 1});
  set(attributes, "nodes_falsenodeids", Dims{2, 1, 3});
  set(attributes, "nodes_falseleafs", Dims{1, 1, 1});
  set(attributes, "leaf_targetids", Dims{0, 1, 0, 1});
  set(attributes, "leaf_weights", Floats{1, 2, 3, 4});
  return attributes;
}

TEST(FallbackTrees, EnsembleOfNodesAndLeavesByPosition) {
  const Array x = array<float>({4, 2}, {1, 2, 3, 4, -1, kNan, 7, -5});
  EXPECT_THAT(compute("ai.onnx.ml.TreeEnsemble", {x}, ensemble()).as<float>(),
              ElementsAre(1, 4, 3, 2, 0, 6, 3, 2));
  Attributes least = ensemble();
  set(least, "aggregate_function", int64_t{2});
  EXPECT_THAT(compute("ai.onnx.ml.TreeEnsemble", {x}, least).as<float>(),
              ElementsAre(1, 4, 3, 2, 0, 2, 3, 2));
}

TEST(FallbackTrees, EnsembleAsksForMembersOfSets) {
  Attributes attributes = ensemble();
  set(attributes, "nodes_modes", Dims{6, 6, 3});
  set(attributes, "membership_values", Floats{7, 1, kNan, 5, 4, kNan});
  const Array x = array<float>({4, 2}, {1, 2, 3, 4, -1, 7, 7, 5});
  EXPECT_THAT(compute("ai.onnx.ml.TreeEnsemble", {x}, attributes).as<float>(),
              ElementsAre(0, 6, 3, 2, 3, 4, 1, 2));
  set(attributes, "membership_values", Floats{7, 1, kNan});
  EXPECT_THAT(refusal("ai.onnx.ml.TreeEnsemble", {x}, attributes).message(),
              HasSubstr("membership_values"));
}

struct BadTree {
  const char* attribute;
  graph::Attribute::Value value;
  const char* message;
};

TEST(FallbackTrees, RefusesTreesThatAreNone) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const BadTree cases[] = {
      {"nodes_truenodeids", Dims{0, 0, 0, 1, 0, 0}, "lead back"},
      {"nodes_truenodeids", Dims{most, 0, 0, 1, 0, 0}, "has no node"},
      {"nodes_truenodeids", Dims{1, 0, 0}, "nodes_truenodeids has 3 entries"},
      {"nodes_nodeids", Dims{0, 1, 1, 0, 1, 2}, "two nodes 1"},
      {"nodes_featureids", Dims{-1, 0, 0, 0, 0, 0}, "feature -1"},
      {"nodes_featureids", Dims{1, 0, 0, 0, 0, 0}, "compare feature 1, but rows have 1"},
      {"nodes_modes", Texts{"BRANCH", "LEAF", "LEAF", "LEAF", "LEAF", "LEAF"}, "mode 'BRANCH'"},
      {"target_ids", Dims{0, 0, 0, 1}, "target 1 of 1"},
      {"target_nodeids", Dims{1, 2, 1, 3}, "has no node 3"},
      {"target_treeids", Dims{}, "no weights"},
      {"n_targets", int64_t{0}, "n_targets"},
      {"base_values", Floats{1, 2}, "2 base_values"},
      {"aggregate_function", std::string("MEDIAN"), "MEDIAN"},
      {"post_transform", std::string("SQUARE"), "SQUARE"}};
  for (const BadTree& test : cases) {
    Attributes attributes = regression();
    set(attributes, test.attribute, test.value);
    EXPECT_THAT(refusal(kRegressor, {kThreeRows}, attributes).message(), HasSubstr(test.message));
  }
  EXPECT_THAT(refusal(kRegressor, {array<float>({1, 1, 1}, {1})}, regression()).message(),
              HasSubstr("rank 1 or 2"));
}

TEST(FallbackTrees, RefusesEnsemblesThatAreNone) {
  const BadTree cases[] = {{"nodes_truenodeids", Dims{0, 0, 1}, "lead back"},
                           {"nodes_truenodeids", Dims{3, 0, 1}, "node 3 of 3"},
                           {"nodes_falsenodeids", Dims{2, 1, 4}, "leaf 4 of 4"},
                           {"tree_roots", Dims{-1}, "root -1 is outside the 3 nodes"},
                           {"nodes_modes", Dims{7, 1, 3}, "mode 7"},
                           {"leaf_targetids", Dims{0, 1, 2, 1}, "target 2 of 2"},
                           {"leaf_weights", Floats{1}, "leaf_weights"},
                           {"aggregate_function", int64_t{4}, "aggregate_function 4"},
                           {"post_transform", int64_t{-1}, "post_transform -1"}};
  for (const BadTree& test : cases) {
    Attributes attributes = ensemble();
    set(attributes, test.attribute, test.value);
    EXPECT_THAT(
        refusal("ai.onnx.ml.TreeEnsemble", {array<float>({1, 2}, {1, 2})}, attributes).message(),
        HasSubstr(test.message));
  }
}

}  // namespace
}  // namespace millrace::fallback
