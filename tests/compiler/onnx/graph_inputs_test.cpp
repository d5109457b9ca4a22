// Tests which tensors are inputs, and what becomes of dimensions that a model leaves open.
#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

// The shapes of all inputs of a model that imports.
std::vector<Dims> input_shapes(Model model, const InputShapes& given = {}) {
  model.output("y").node("Relu", {"x"}, {"y"});
  const Result<graph::Graph> graph = model.import(given);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  std::vector<Dims> shapes;
  if (!graph.ok()) return shapes;
  for (const graph::ValueId id : graph->inputs) shapes.push_back(graph->values[id].shape);
  return shapes;
}

Status input_failure(Model model, const InputShapes& given = {}) {
  return import_failure(model.output("y").node("Relu", {"x"}, {"y"}), given);
}

using Shapes = std::vector<Dims>;

TEST(GraphInputs, OpenLeadingDimensionIsOneFrame) {
  EXPECT_EQ(input_shapes(Model().input("x", {-1, 3})), (Shapes{{1, 3}}));
  EXPECT_EQ(input_shapes(Model().symbolic_input("x", {"batch", "3"})), (Shapes{{1, 3}}));
}

TEST(GraphInputs, FixedLeadingDimensionStays) {
  EXPECT_EQ(input_shapes(Model().input("x", {4, 3})), (Shapes{{4, 3}}));
  EXPECT_EQ(input_shapes(Model().input("x", {})), (Shapes{{}}));
}

TEST(GraphInputs, GivenShapesSettleTheRest) {
  EXPECT_EQ(input_shapes(Model().input("x", {-1, 3, -1}), {{"x", {1, 3, 7}}}), (Shapes{{1, 3, 7}}));
  EXPECT_EQ(input_shapes(Model().input("x", {4, 3}), {{"x", {2, 3}}}), (Shapes{{2, 3}}));
}

TEST(GraphInputs, SymbolsHoldForAllInputs) {
  Model model;
  model.symbolic_input("x", {"n", "length"}).symbolic_input("mask", {"n", "length"});
  EXPECT_EQ(input_shapes(model, {{"x", {2, 7}}}), (Shapes{{2, 7}, {2, 7}}));
}

TEST(GraphInputs, ThoseThatInitializersFillAreNone) {
  Model model;
  model.input("x", {1, 3}).input("w", {3}).floats("w", {3}, {1, 2, 3}).output("y");
  const auto graph = import_valid(model.node("Add", {"x", "w"}, {"y"}));
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
}

// The inputs, with the shapes that would keep their leading dimensions open.
InputShapes assumed_of(const Model& model, const InputShapes& given = {}) {
  const auto network = read_network(model.bytes(), {});
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  InputShapes assumed;
  if (!network.ok()) return assumed;
  for (const AssumedFrame& frame : assumed_frames(given, network->inputs))
    assumed.emplace(frame.input, frame.kept_open);
  return assumed;
}

TEST(GraphInputs, ALeadingDimensionWithoutAMeaningIsReported) {
  Model model;
  model.symbolic_input("x", {"length", "3"}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_EQ(assumed_of(model), (InputShapes{{"x", {-1, 3}}}));
  EXPECT_EQ(assumed_of(model, {{"x", {-1, 3}}}), InputShapes());
  EXPECT_EQ(assumed_of(model, {{"x", {1, 3}}}), InputShapes());
  model.symbolic_input("mask", {"length", "4"});
  EXPECT_EQ(assumed_of(model, {{"x", {5, 3}}}), InputShapes()) << "the mask has that size, too";
}

TEST(GraphInputs, ALeadingDimensionThatIsCalledABatchIsNot) {
  for (const char* symbol : {"batch", "Batch_Size", "N"}) {
    Model model;
    model.symbolic_input("x", {symbol, "3"}).output("y").node("Relu", {"x"}, {"y"});
    EXPECT_EQ(assumed_of(model), InputShapes()) << symbol;
  }
}

Model through_relu(Model model) {
  model.output("y").node("Relu", {"x"}, {"y"});
  return model;
}

// The dimensions of the inputs, as a network has them; -1 where they are open.
Shapes settled_shapes(const Model& model, const InputShapes& given = {}) {
  auto network = read_network(model.bytes(), {});
  if (!network.ok() || !settle_inputs(given, *network).ok()) return {};
  Shapes shapes;
  for (const network::Input& input : network->inputs) {
    shapes.emplace_back();
    for (const network::Dimension& dim : input.shape) shapes.back().push_back(dim.size);
  }
  return shapes;
}

TEST(GraphInputs, WhatNothingSettlesStaysOpen) {
  const Model model = through_relu(
      Model().symbolic_input("x", {"batch", "3", "height", "160"}).input("z", {-1, -1}));
  EXPECT_EQ(settled_shapes(model), (Shapes{{1, 3, -1, 160}, {1, -1}}));
  EXPECT_EQ(settled_shapes(model, {{"x", {-1, 3, 8, 160}}}), (Shapes{{-1, 3, 8, 160}, {1, -1}}));
}

// Vectors are not stacks of frames: their sum is one number, and a vector may be empty.
TEST(GraphInputs, LengthsOfVectorsStayOpenWhereNothingHasFrames) {
  const Model vectors = through_relu(Model().symbolic_input("x", {"length"}).input("z", {-1}));
  EXPECT_EQ(settled_shapes(vectors), (Shapes{{-1}, {-1}}));
  EXPECT_EQ(settled_shapes(vectors, {{"x", {5}}}), (Shapes{{5}, {-1}}));
  EXPECT_EQ(assumed_of(vectors), InputShapes());
  const Model batch = through_relu(Model().symbolic_input("x", {"batch"}).input("z", {-1}));
  EXPECT_EQ(settled_shapes(batch), (Shapes{{1}, {1}}));
  const Model frames = through_relu(Model().symbolic_input("x", {"n", "3"}).input("z", {-1}));
  EXPECT_EQ(settled_shapes(frames), (Shapes{{1, 3}, {1}}));
}

TEST(GraphInputs, ASymbolThatStaysOpenDoesSoInAllInputs) {
  const Model model =
      through_relu(Model().symbolic_input("x", {"batch", "2"}).symbolic_input("z", {"batch", "n"}));
  EXPECT_EQ(settled_shapes(model), (Shapes{{1, 2}, {1, -1}}));
  EXPECT_EQ(settled_shapes(model, {{"x", {-1, 2}}}), (Shapes{{-1, 2}, {-1, -1}}));
}

TEST(GraphInputs, TheSymbolOfFramesHasTheirNumberElsewhereToo) {
  const Model model = through_relu(
      Model().symbolic_input("x", {"batch", "2"}).symbolic_input("z", {"2", "batch", "3"}));
  EXPECT_EQ(settled_shapes(model), (Shapes{{1, 2}, {2, 1, 3}}));
}

// Zero is meant as it stands, unless the caller says that it stands for a size that is not known.
TEST(GraphInputs, MayBeEmpty) {
  const Model model = Model().input("x", {3, 0, 5});
  EXPECT_EQ(input_shapes(model), (Shapes{{3, 0, 5}}));
  EXPECT_EQ(input_shapes(model, {{"x", {3, 4, 5}}}), (Shapes{{3, 4, 5}}));
}

TEST(GraphInputs, AnUnknownRankIsOpenUnlessAShapeIsGiven) {
  Model model;
  model.proto.mutable_graph()->add_input()->set_name("x");
  auto* type = model.proto.mutable_graph()->mutable_input(0)->mutable_type();
  type->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  model = through_relu(std::move(model));
  auto network = read_network(model.bytes(), {});
  ASSERT_TRUE(network.ok());
  ASSERT_TRUE(settle_inputs({}, *network).ok());
  EXPECT_FALSE(is_static(network->inputs[0]));
  ASSERT_TRUE(settle_inputs({{"x", {1, 5}}}, *network).ok());
  EXPECT_TRUE(is_static(network->inputs[0]));
}

TEST(GraphInputs, GivenShapesThatDoNotFit) {
  const Model model = Model().symbolic_input("x", {"batch", "3", "size", "size"});
  for (const InputShapes& given :
       {InputShapes{{"x", {1, 3, 8}}}, InputShapes{{"x", {1, 4, 8, 8}}},
        InputShapes{{"x", {1, 3, 8, 9}}}, InputShapes{{"x", {1, 3, 0, 8}}},
        InputShapes{{"x", {1, 3, -8, -8}}}, InputShapes{{"z", {1}}},
        InputShapes{{"x", {1, 3, int64_t{1} << 40, int64_t{1} << 40}}}}) {
    const Status status = input_failure(model, given);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("'x'"), std::string::npos) << status.message();
  }
}

TEST(GraphInputs, TypesThatCannotBeInputs) {
  for (const auto type : {TensorProto::STRING, TensorProto::COMPLEX64, TensorProto::UNDEFINED}) {
    const Status status = input_failure(Model().input("x", {1}, type));
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_NE(status.message().find("input 'x'"), std::string::npos) << status.message();
  }
  Model sequence;
  auto* input = sequence.proto.mutable_graph()->add_input();
  input->set_name("x");
  input->mutable_type()->mutable_sequence_type();
  EXPECT_EQ(input_failure(sequence).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::compiler::test
