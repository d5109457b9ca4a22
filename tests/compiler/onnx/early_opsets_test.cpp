// Models from before opset 7: broadcasting by attributes, and files that state no opset.
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler {
namespace {

using namespace test;
using ::testing::HasSubstr;

// x [2, 3, 4, 5] and an operand b of the given shape.
graph::Graph arithmetic(const Dims& b, const Attributes& attributes, int opset = 6) {
  Model model(opset);
  model.input("x", {2, 3, 4, 5}).input("b", b).output("y");
  return import_valid(model.node("Mul", {"x", "b"}, {"y"}, attributes));
}

TEST(EarlyOpsets, AnAxisSaysWhereTheSecondOperandBegins) {
  const graph::Graph graph = arithmetic({3, 4}, {{"broadcast", 1}, {"axis", 1}});
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, graph::Operator(graph::Reshape{{3, 4, 1}}));
  EXPECT_EQ(graph.values[graph.outputs[0]].shape, (Dims{2, 3, 4, 5}));
}

TEST(EarlyOpsets, WithoutAnAxisTheLastDimensionsMatch) {
  EXPECT_EQ(arithmetic({4, 5}, {{"broadcast", 1}}).nodes.size(), 1u);
  EXPECT_EQ(arithmetic({2, 3, 4, 5}, {}).nodes.size(), 1u);
}

TEST(EarlyOpsets, AnAxisThatDoesNotFitIsInvalid) {
  for (const int axis : {3, 4, -5}) {
    Model model(6);
    model.input("x", {2, 3, 4, 5}).input("b", {3, 4}).output("y");
    model.node("Mul", {"x", "b"}, {"y"}, {{"broadcast", 1}, {"axis", axis}});
    EXPECT_EQ(import_failure(model).code(), StatusCode::kInvalidArgument) << axis;
  }
}

TEST(EarlyOpsets, LaterOnesTakeNoAxis) {
  Model model(7);
  model.input("x", {2, 3, 4, 5}).input("b", {3, 4}).output("y");
  model.node("Mul", {"x", "b"}, {"y"}, {{"broadcast", 1}, {"axis", 1}});
  EXPECT_THAT(import_failure(model).message(), HasSubstr("do not broadcast"));
}

TEST(EarlyOpsets, TheSlopeOfAPReluIsPerChannel) {
  Model model(6);
  model.input("x", {2, 3, 4, 5}).floats("slope", {3}, {1, 2, 3}).output("y");
  const graph::Graph graph = import_valid(model.node("PRelu", {"x", "slope"}, {"y"}));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.values[graph.nodes[0].inputs[1]].shape, (Dims{3, 1, 1}));
}

TEST(EarlyOpsets, FallbacksKnowTheirAttributes) {
  Model model(6);
  model.input("x", {2, 3}, TensorProto::INT32).input("b", {2}, TensorProto::INT32).output("y");
  model.node("Add", {"x", "b"}, {"y"}, {{"broadcast", 1}, {"axis", 0}});
  const graph::Graph graph = import_valid(model);
  EXPECT_EQ(graph.nodes.back().op, graph::Operator(graph::Fallback{"Add", {}}));
}

TEST(EarlyOpsets, FilesOfTheFirstVersionsStateNone) {
  Model model;
  model.proto.clear_opset_import();
  model.input("x", {1}).output("y").node("Relu", {"x"}, {"y"});
  model.proto.set_ir_version(2);
  import_valid(model);
  model.proto.set_ir_version(3);
  EXPECT_THAT(import_failure(model).message(), HasSubstr("does not state the opset"));
}

}  // namespace
}  // namespace millrace::compiler
