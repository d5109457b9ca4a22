#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using graph::ReduceKind;
using Operators = std::vector<graph::Operator>;

TEST(ReductionImport, AxesAreAnAttributeAtFirst) {
  const std::pair<const char*, ReduceKind> cases[] = {{"ReduceSum", ReduceKind::kSum},
                                                      {"ReduceMean", ReduceKind::kMean},
                                                      {"ReduceMax", ReduceKind::kMax},
                                                      {"ReduceMin", ReduceKind::kMin},
                                                      {"ReduceProd", ReduceKind::kProd}};
  for (const auto& [type, kind] : cases) {
    Model model(11);
    model.input("x", {2, 3, 4}).output("y");
    model.node(type, {"x"}, {"y"}, {{"axes", Dims{-1, 0}}, {"keepdims", 0}});
    const auto graph = import_valid(model);
    EXPECT_EQ(operators_of(graph), (Operators{graph::Reduce{kind, {0, 2}, false}})) << type;
    EXPECT_EQ(output_of(graph).shape, (Dims{3})) << type;
  }
}

TEST(ReductionImport, AxesAreAnOperandLater) {
  const std::pair<const char*, int> cases[] = {{"ReduceSum", 13}, {"ReduceMean", 18}};
  for (const auto& [type, opset] : cases) {
    Model model(opset);
    model.input("x", {2, 3, 4}).ints("axes", {1}).output("y");
    const auto graph = import_valid(model.node(type, {"x", "axes"}, {"y"}));
    EXPECT_EQ(output_of(graph).shape, (Dims{2, 1, 4})) << type;
  }
}

TEST(ReductionImport, WithoutAxesAllOrNone) {
  Model model(18);
  model.input("x", {2, 3}).output("y");
  EXPECT_EQ(operators_of(import_valid(Model(model).node("ReduceMax", {"x"}, {"y"}))),
            (Operators{graph::Reduce{ReduceKind::kMax, {0, 1}, true}}));
  const Attributes none = {{"noop_with_empty_axes", 1}};
  EXPECT_EQ(operators_of(import_valid(Model(model).node("ReduceMax", {"x"}, {"y"}, none))),
            (Operators{graph::Unary{}}));
}

TEST(ReductionImport, AxesOutsideTheRankAreRefused) {
  for (const Dims& axes : {Dims{2}, Dims{-3}, Dims{0, -2}}) {
    Model model(11);
    model.input("x", {2, 3}).output("y").node("ReduceMean", {"x"}, {"y"}, {{"axes", axes}});
    EXPECT_EQ(import_failure(model).code(), StatusCode::kInvalidArgument);
  }
}

TEST(ReductionImport, CompositionsComputeWhatTheyStandFor) {
  const std::pair<const char*, float> cases[] = {
      {"ReduceL1", 7}, {"ReduceL2", 5}, {"ReduceSumSquare", 25}, {"ReduceMean", -0.5f}};
  for (const auto& [type, expected] : cases) {
    Model model(11);
    model.floats("x", {2}, {3, -4}).node(type, {"x"}, {"y"}, {{"keepdims", 0}});
    EXPECT_EQ(content<float>(computed(model)), content<float>({}, {expected})) << type;
  }
  Model model(11);
  model.floats("x", {2}, {0.25f, 0.75f}).node("ReduceLogSum", {"x"}, {"y"}, {{"keepdims", 0}});
  EXPECT_EQ(content<float>(computed(model)), content<float>({}, {0}));
}

struct SoftmaxCase {
  int opset;
  Dims shape;
  Attributes attributes;
  Operators expected;
};

TEST(SoftmaxImport, WorksOnRowsBeforeOpset13) {
  const SoftmaxCase cases[] = {
      {13, {2, 3, 4}, {}, {graph::Softmax{2, false}}},
      {13, {2, 3, 4}, {{"axis", -2}}, {graph::Softmax{1, false}}},
      {11, {2, 3, 4}, {{"axis", 2}}, {graph::Softmax{2, false}}},
      {11, {1, 1000, 1, 1}, {}, {graph::Softmax{1, false}}},
      {11, {1, 1, 1, 10}, {}, {graph::Softmax{3, false}}},
      {11, {1, 1, 1, 1}, {{"axis", -1}}, {graph::Softmax{3, false}}},
      {11,
       {2, 3, 4},
       {},
       {graph::Reshape{{2, 12}}, graph::Softmax{1, false}, graph::Reshape{{2, 3, 4}}}},
  };
  for (const SoftmaxCase& test : cases) {
    Model model(test.opset);
    model.input("x", test.shape).output("y").node("Softmax", {"x"}, {"y"}, test.attributes);
    EXPECT_EQ(operators_of(import_valid(model)), test.expected);
  }
}

TEST(SoftmaxImport, LogSoftmax) {
  Model model;
  model.input("x", {1, 3}).output("y").node("LogSoftmax", {"x"}, {"y"});
  EXPECT_EQ(operators_of(import_valid(model)), (Operators{graph::Softmax{1, true}}));
}

TEST(BatchNormalizationImport, KeepsItsOperandsAndEpsilon) {
  Model model(9);
  model.input("x", {1, 2, 4, 4}).output("y");
  for (const char* name : {"s", "b", "m", "v"}) model.floats(name, {2}, {1, 2});
  const Names operands = {"x", "s", "b", "m", "v"};
  const auto graph =
      import_valid(Model(model).node("BatchNormalization", operands, {"y"}, {{"epsilon", 0.5}}));
  EXPECT_EQ(operators_of(graph), (Operators{graph::BatchNormalization{0.5f}}));
}

TEST(BatchNormalizationImport, OfTrainingIsAFallback) {
  Model model(15);
  model.input("x", {1, 2, 4, 4}).output("y").output("mean").output("variance");
  for (const char* name : {"s", "b", "m", "v"}) model.floats(name, {2}, {1, 2});
  const Names operands = {"x", "s", "b", "m", "v"}, results = {"y", "mean", "variance"};
  const auto graph = import_valid(
      Model(model).node("BatchNormalization", operands, results, {{"training_mode", 1}}));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(std::get<graph::Fallback>(graph.nodes[0].op).name, "BatchNormalization");
  model.node("BatchNormalization", operands, results);
  EXPECT_EQ(import_failure(model).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::compiler::test
