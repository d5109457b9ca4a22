// Quantised models: what the import and all passes make of them, and that it computes what the
// model does as it is written.
#include <gmock/gmock.h>

#include "lowering/passes/pass_table.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

const Names kX = {"x_scale", "x_zero"}, kY = {"y_scale", "y_zero"}, kW = {"w_scale", "w_zero"};

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// x is quantised, and the parameters of x, y and a weight w are there.
Model model() {
  Model model;
  model.domain("com.microsoft", 1).input("x", {1, 2, 3, 4});
  model.floats("x_scale", {}, {0.05f}).floats("y_scale", {}, {0.1f}).floats("w_scale", {}, {0.02f});
  model.constant(int_tensor("x_zero", {}, {120}, TensorProto::UINT8));
  model.constant(int_tensor("y_zero", {}, {130}, TensorProto::UINT8));
  model.constant(int_tensor("w_zero", {}, {0}, TensorProto::INT8));
  model.node("QuantizeLinear", Names{"x"} + kX, {"q"});
  return model;
}

Model& microsoft(Model& model) {
  auto* graph = model.proto.mutable_graph();
  graph->mutable_node(graph->node_size() - 1)->set_domain("com.microsoft");
  return model;
}

// y, of integers, as numbers and the output.
const Model& dequantised(Model& model) {
  return model.node("DequantizeLinear", Names{"y"} + kY, {"numbers"}).output("numbers");
}

graph::Graph lowered(const Model& model, bool as_written) {
  const auto network = read_network(model.bytes(), {});
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  auto stage = lowering::lower_whole(*network, device::cpu::capabilities(), false, as_written);
  EXPECT_TRUE(stage.ok()) << stage.status().to_string();
  if (!stage.ok()) return {};
  lowering::PassContext context;
  context.as_written = as_written;
  for (const lowering::Pass& pass : lowering::pass_table())
    EXPECT_TRUE(pass.run(stage->graph, context).ok()) << pass.name;
  EXPECT_TRUE(graph::validate(stage->graph).ok());
  return stage->graph;
}

// The names of the operators, after a check of what they compute.
Names compiled(const Model& model) {
  const graph::Graph graph = lowered(model, false);
  const auto actual = lowering::interpret(graph);
  const auto expected = lowering::interpret(lowered(model, true));
  EXPECT_TRUE(actual.ok() && expected.ok());
  // A step of y, where a number lies between two.
  if (!actual.ok() || !expected.ok()) return {};
  EXPECT_THAT((*actual)[0], Pointwise(FloatNear(0.1001f), (*expected)[0]));
  Names names;
  for (const graph::Node& node : graph.nodes) names.push_back(graph::name_of(node.op));
  return names;
}

void add_weight(Model& model, const Dims& dims) {
  Dims elements(static_cast<size_t>(graph::Value{"", {}, dims, {}}.elements()));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<int64_t>(i * 37 % 201) - 100;
  model.constant(int_tensor("w", dims, elements, TensorProto::INT8));
}

TEST(QuantisedImport, QLinearConv) {
  Model m = model();
  add_weight(m, {3, 2, 1, 1});
  m.constant(int_tensor("bias", {3}, {100, -200, 300}, TensorProto::INT32));
  m.node("QLinearConv", Names{"q"} + kX + Names{"w"} + kW + kY + Names{"bias"}, {"y"});
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "Conv", "Requantise"));
  const graph::Graph graph = lowered(m, false);
  const graph::Value& weight = graph.values[graph.nodes[1].inputs[1]];
  EXPECT_EQ(weight.type, tensor::DataType::kInt8);
  EXPECT_TRUE(weight.constant);
}

TEST(QuantisedImport, AQLinearConvWithAScaleThatAJobComputesKeepsItsKernel) {
  Model m = model();
  add_weight(m, {3, 2, 1, 1});
  m.input("scale", {});
  m.node("QLinearConv", Names{"q"} + kX + Names{"w", "scale", "w_zero"} + kY, {"y"});
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "QLinearConv", "Requantise"));
}

TEST(QuantisedImport, QLinearMatMul) {
  Model m = model();
  add_weight(m, {4, 5});
  m.node("QLinearMatMul", Names{"q"} + kX + Names{"w"} + kW + kY, {"y"});
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "MatMul", "Requantise"));
}

// [6, 4] by [4, 6], with a scale per column.
Names compiled_qgemm(const Dims& bias_dims) {
  Model m = model();
  m.constant(int_tensor("shape", {2}, {6, 4}, TensorProto::INT64));
  m.node("Reshape", {"q", "shape"}, {"a"});
  add_weight(m, {4, 6});
  m.floats("scales", {6}, {0.01f, 0.05f, 0.02f, 0.04f, 0.01f, 0.03f});
  m.constant(int_tensor("zeros", {6}, {0, 0, 0, 0, 0, 0}, TensorProto::INT8));
  Dims bias(static_cast<size_t>(graph::Value{"", {}, bias_dims, {}}.elements()));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<int64_t>(i * 37 % 11) * 200 - 1000;
  m.constant(int_tensor("bias", bias_dims, bias, TensorProto::INT32));
  microsoft(m.node("QGemm", Names{"a"} + kX + Names{"w", "scales", "zeros", "bias"} + kY, {"y"}));
  return compiled(dequantised(m));
}

TEST(QuantisedImport, QGemmWithABiasThatHasANumberPerColumn) {
  for (const Dims& dims : {Dims{6}, Dims{1, 6}, Dims{6, 6}}) {
    SCOPED_TRACE(dims.size());
    EXPECT_THAT(compiled_qgemm(dims), Contains("MatMul"));
  }
}

TEST(QuantisedImport, QGemmWithABiasThatOneScaleDoesNotFitAddsIntegers) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{6, 1}}) {
    SCOPED_TRACE(dims.size());
    EXPECT_THAT(compiled_qgemm(dims), Contains("MatMulInteger"));
  }
}

TEST(QuantisedImport, FunctionsOfOneOperand) {
  const std::pair<const char*, const char*> functions[] = {
      {"QLinearSigmoid", "Unary"},
      {"QLinearLeakyRelu", "Unary"},
      {"QLinearGlobalAveragePool", "GlobalPool"},
  };
  for (const auto& [type, op] : functions) {
    SCOPED_TRACE(type);
    Model m = model();
    microsoft(m.node(type, Names{"q"} + kX + kY, {"y"}));
    EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", op, "Requantise"));
  }
}

TEST(QuantisedImport, QLinearAveragePool) {
  Model m = model();
  microsoft(
      m.node("QLinearAveragePool", Names{"q"} + kX + kY, {"y"}, {{"kernel_shape", Dims{2, 2}}}));
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "Pool", "Requantise"));
}

TEST(QuantisedImport, QLinearAddMulAndConcat) {
  Model m = model();
  microsoft(m.node("QLinearAdd", Names{"q"} + kX + Names{"q"} + kX + kY, {"sum"}));
  microsoft(m.node("QLinearMul", Names{"sum"} + kY + Names{"q"} + kX + kY, {"product"}));
  microsoft(m.node("QLinearConcat", kY + Names{"sum"} + kY + Names{"product"} + kY, {"y"},
                   {{"axis", 1}}));
  EXPECT_THAT(compiled(dequantised(m)),
              ElementsAre("Requantise", "Binary", "Binary", "Concat", "Requantise"));
}

TEST(QuantisedImport, WhatMovesIntegersIsOnQuantisedValues) {
  Model m = model();
  m.node("Transpose", {"q"}, {"moved"}, {{"perm", Dims{0, 2, 3, 1}}});
  add_weight(m, {2, 5});
  m.node("QLinearMatMul", Names{"moved"} + kX + Names{"w"} + kW + kY, {"y"});
  EXPECT_THAT(compiled(dequantised(m)),
              ElementsAre("Requantise", "Transpose", "MatMul", "Requantise"));
}

TEST(QuantisedImport, AWeightThatIsTransposedStaysIntegers) {
  Model m = model();
  add_weight(m, {5, 4});
  m.floats("scales", {5}, {0.01f, 0.02f, 0.03f, 0.02f, 0.01f});
  m.constant(int_tensor("zeros", {5}, {0, 0, 0, 0, 0}, TensorProto::INT8));
  m.node("DequantizeLinear", Names{"q"} + kX, {"a"});
  m.node("DequantizeLinear", {"w", "scales", "zeros"}, {"b"}, {{"axis", 0}});
  m.node("Transpose", {"b"}, {"transposed"}).node("MatMul", {"a", "transposed"}, {"product"});
  m.node("QuantizeLinear", Names{"product"} + kY, {"y"});
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "MatMul", "Requantise"));
  const graph::Graph graph = lowered(m, false);
  const graph::Value& weight = graph.values[graph.nodes[1].inputs[1]];
  EXPECT_EQ(weight.shape, (Dims{4, 5}));
  EXPECT_EQ(weight.quantisation->axis, 1u);
}

TEST(QuantisedImport, AReluThatTheIntegersImplyIsNotLostInAResidualSum) {
  Model m = model();
  add_weight(m, {2, 2, 1, 1});
  m.constant(int_tensor("lowest", {}, {0}, TensorProto::UINT8));
  m.node("DequantizeLinear", Names{"q"} + kX, {"a"});
  m.node("DequantizeLinear", Names{"w"} + kW, {"b"});
  m.node("Conv", {"a", "b"}, {"conv"}).node("Relu", {"conv"}, {"relu"});
  m.node("QuantizeLinear", {"relu", "x_scale", "lowest"}, {"r"});
  m.node("DequantizeLinear", {"r", "x_scale", "lowest"}, {"c"}).node("Add", {"c", "a"}, {"sum"});
  m.node("QuantizeLinear", Names{"sum"} + kY, {"y"});
  EXPECT_THAT(compiled(dequantised(m)), ElementsAre("Requantise", "Conv", "Binary", "Requantise"));
}

TEST(QuantisedImport, AsItIsWritten) {
  Model m = model();
  add_weight(m, {3, 2, 1, 1});
  m.node("QLinearConv", Names{"q"} + kX + Names{"w"} + kW + kY, {"y"});
  Names names;
  for (const graph::Node& node : lowered(dequantised(m), true).nodes)
    names.push_back(graph::name_of(node.op));
  EXPECT_THAT(names, ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
}

}  // namespace
}  // namespace millrace::compiler::test
