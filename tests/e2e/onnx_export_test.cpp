// Graphs that are written as ONNX: what the file says, and that it compiles to the same results.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "compiler/compiler.h"
#include "compiler/export/onnx_writer.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using device::cpu::ModelBuilder;
using device::cpu::Tensor;
using graph::kNoValue;
using graph::Quantisation;
using graph::Requantise;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Names = std::vector<std::string>;

class OnnxExport : public ::testing::Test {
 protected:
  // The file that the graph is written to, parsed.
  ::onnx::ModelProto written(const graph::Graph& graph) {
    const Status status = compiler::write_onnx(graph, path_);
    EXPECT_TRUE(status.ok()) << status.to_string();
    ::onnx::ModelProto model;
    std::ifstream file(path_, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&file));
    return model;
  }

  // Expects that the file compiles, and computes what the graph does. All operands are of FLOAT32.
  void expect_same_results(const ModelBuilder& builder) {
    const auto direct = builder.build();
    ASSERT_TRUE(graph::validate(direct->graph).ok()) << graph::validate(direct->graph).to_string();
    written(direct->graph);
    compiler::CompileOptions options;
    options.hw_quantisation = graph::HwQuantisation::kModel;  // as `builder` has them
    auto compiled = compiler::compile(path_, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
    std::vector<Tensor> inputs;
    for (const graph::Boundary& input : direct->inputs)
      inputs.push_back(Tensor::numbers(direct->graph.values[input.value].shape, inputs.size()));
    const auto wanted = run(*device::cpu::load(direct), inputs);
    const auto actual = run(
        *device::cpu::load(std::make_shared<graph::CompiledModel>(*std::move(compiled))), inputs);
    ASSERT_EQ(actual.size(), wanted.size());
    for (size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], wanted[i], 1e-6);
  }

  // The same for one operator of one operand.
  void expect_same_result(graph::Operator op, const graph::Dims& shape) {
    SCOPED_TRACE(graph::name_of(op));
    ModelBuilder b;
    b.output(b.node(std::move(op), {b.input(shape)}));
    expect_same_results(b);
  }

  Status refusal(const graph::Graph& graph) { return compiler::write_onnx(graph, path_); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("written.onnx");
};

Names types_of(const ::onnx::ModelProto& model) {
  Names types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

Tensor weights(const graph::Dims& dims) {
  return Tensor::numbers(dims, 77);
}

graph::Conv conv_2d(int64_t group, graph::Activation activation) {
  return {{2, 1}, {1, 2}, {1, 2}, {0, 2}, group, activation};
}

TEST_F(OnnxExport, ConvolutionsWithAllThatIsFusedInThem) {
  ModelBuilder b;
  const auto x = b.input({1, 4, 9, 8});
  const auto weight = b.constant(weights({6, 2, 3, 3})), bias = b.constant(weights({6}));
  const auto y = b.node(conv_2d(2, {UnaryKind::kClip, 0, 6}), {x, weight, bias});
  const auto again = b.node(conv_2d(2, {UnaryKind::kRelu, 0, 0}), {x, weight, kNoValue, y});
  b.output(b.node(conv_2d(2, {}), {x, weight, bias, again, b.constant(weights({6}))}));
  expect_same_results(b);
}

TEST_F(OnnxExport, ConvolutionsOfOneAndThreeDimensions) {
  ModelBuilder b;
  const auto line = b.input({1, 2, 9});
  const auto volume = b.input({1, 2, 4, 5, 6});
  b.output(b.node(graph::Conv{{2}, {1}, {1}, {0}, 1, {}}, {line, b.constant(weights({3, 2, 3}))}));
  b.output(b.node(graph::Conv{{1, 1, 2}, {1, 1, 1}, {1, 0, 0}, {0, 0, 1}, 1, {}},
                  {volume, b.constant(weights({3, 2, 2, 2, 2}))}));
  expect_same_results(b);
}

TEST_F(OnnxExport, Products) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const bool stacked : {false, true}) {
        ModelBuilder b;
        graph::Dims a_shape = transpose_a ? graph::Dims{5, 4} : graph::Dims{4, 5};
        if (stacked) a_shape.insert(a_shape.begin(), {2, 3});
        const auto w = transpose_b ? graph::Dims{6, 5} : graph::Dims{5, 6};
        const graph::MatMul op{transpose_a, transpose_b, 0.5f, {UnaryKind::kSwish, 0, 0}};
        b.output(b.node(op, {b.input(a_shape), b.constant(weights(w)), b.constant(weights({6}))}));
        expect_same_results(b);
      }
}

TEST_F(OnnxExport, AttentionIsWrittenInItsParts) {
  ModelBuilder b;
  const ValueId query = b.input({2, 3, 5, 4}), key = b.input({2, 3, 6, 4});
  const ValueId value = b.input({2, 3, 6, 8}), bias = b.input({2, 1, 1, 6});
  b.output(b.fallback({"millrace.Attention", {{"scale", 0.5f}}}, {query, key, value, bias}, 1)[0]);
  expect_same_results(b);
  EXPECT_THAT(types_of(written(b.build()->graph)),
              ElementsAre("Transpose", "MatMul", "Mul", "Add", "Softmax", "MatMul"));
}

TEST_F(OnnxExport, AttentionToBuffersIsWrittenInItsParts) {
  const std::vector<std::vector<graph::Attribute>> variants = {
      {{"scale", 0.5f}}, {{"causal", int64_t{0}}}, {{"scale", 2.0f}, {"window", int64_t{3}}}};
  for (const auto& attributes : variants)
    for (const bool has_sinks : {false, true}) {
      ModelBuilder b;
      const ValueId query = b.input({2, 4, 3, 8}), key = b.input({2, 2, 6, 8});
      const ValueId value = b.input({2, 2, 6, 5});
      const ValueId lengths = b.integers<int64_t>({2}, DataType::kInt64, {6, 2});
      std::vector<ValueId> operands = {query, key, value, lengths};
      if (has_sinks) operands.push_back(b.constant(weights({4})));
      b.output(b.fallback({"millrace.CachedAttention", attributes}, operands, 1)[0]);
      expect_same_results(b);
    }
}

// Operators of the standard take operands of one type.
TEST_F(OnnxExport, PartsComputeInTheTypeOfTheirOperands) {
  ModelBuilder b;
  const auto input = [&](const graph::Dims& dims) { return b.input(dims, DataType::kFloat64); };
  const ValueId lengths = b.integers<int64_t>({1}, DataType::kInt64, {5});
  const ValueId sinks = input({2});
  const ValueId y = b.fallback(
      {"millrace.CachedAttention", {{"scale", 0.5f}, {"window", int64_t{2}}}},
      {input({1, 2, 3, 4}), input({1, 2, 6, 4}), input({1, 2, 6, 4}), lengths, sinks})[0];
  b.output(b.fallback({"millrace.Attention", {{"scale", 0.5f}}}, {y, y, y})[0]);
  b.output(b.fallback({"RMSNormalization", {{"epsilon", 0.01f}}}, {y, input({4})})[0]);
  const ::onnx::ModelProto model = written(b.build()->graph);
  for (const auto& constant : model.graph().initializer())
    EXPECT_NE(constant.data_type(), ::onnx::TensorProto::FLOAT) << constant.name();
  const auto compiled = compiler::compile(path_, {});
  EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
}

TEST_F(OnnxExport, AttentionToBuffersIsWrittenWithoutAMask) {
  ModelBuilder b;
  const ValueId query = b.input({1, 1, 100, 4}), key = b.input({1, 1, 1000, 4});
  const ValueId lengths = b.input({1}, DataType::kInt64);
  b.output(b.fallback({"millrace.CachedAttention", {}}, {query, key, key, lengths})[0]);
  EXPECT_LT(written(b.build()->graph).ByteSizeLong(), 100u * 1000);
}

TEST_F(OnnxExport, RmsNormalizationIsWrittenInItsParts) {
  for (const int64_t axis : {-1, 1}) {
    ModelBuilder b;
    const ValueId scale = b.constant(weights(axis == 1 ? graph::Dims{3, 4} : graph::Dims{4}));
    b.output(b.fallback({"RMSNormalization", {{"axis", axis}, {"epsilon", 0.01f}}},
                        {b.input({2, 3, 4}), scale})[0]);
    expect_same_results(b);
    EXPECT_THAT(types_of(written(b.build()->graph)),
                ElementsAre("Mul", "ReduceMean", "Add", "Sqrt", "Div", "Mul"));
  }
}

TEST_F(OnnxExport, Functions) {
  const std::vector<graph::Activation> functions = {
      {UnaryKind::kIdentity, 0, 0},
      {UnaryKind::kRelu, 0, 0},
      {UnaryKind::kClip, -0.5f, 0.25f},
      {UnaryKind::kClip, std::numeric_limits<float>::lowest(), 0},
      {UnaryKind::kLeakyRelu, 0.2f, 0},
      {UnaryKind::kElu, 0.5f, 0},
      {UnaryKind::kSigmoid, 0, 0},
      {UnaryKind::kTanh, 0, 0},
      {UnaryKind::kHardSigmoid, 0.3f, 0.4f},
      {UnaryKind::kHardSwish, 0, 0},
      {UnaryKind::kSwish, 0, 0},
      {UnaryKind::kGelu, 0, 0},
      {UnaryKind::kExp, 0, 0},
      {UnaryKind::kAbs, 0, 0},
      {UnaryKind::kNeg, 0, 0},
      {UnaryKind::kErf, 0, 0},
      {UnaryKind::kRound, 0, 0},
      {UnaryKind::kFloor, 0, 0},
      {UnaryKind::kCeil, 0, 0},
      {UnaryKind::kReciprocal, 0, 0},
      {UnaryKind::kSoftplus, 0, 0},
      {UnaryKind::kPow, 2, 0},
      {UnaryKind::kLinear, 3, 0},
      {UnaryKind::kLinear, 1, 0.5f},
      {UnaryKind::kLinear, -2, 0.5f},
      {UnaryKind::kLinear, 1, 0}};
  for (const graph::Activation& function : functions) {
    SCOPED_TRACE(graph::name_of(function.kind));
    expect_same_result(graph::Unary{function}, {2, 3, 5});
  }
  for (const UnaryKind kind : {UnaryKind::kLog, UnaryKind::kSqrt}) {
    ModelBuilder b;
    const auto positive = b.node(graph::Unary{{UnaryKind::kAbs, 0, 0}}, {b.input({7})});
    b.output(b.node(graph::Unary{{kind, 0, 0}}, {positive}));
    expect_same_results(b);
  }
}

TEST_F(OnnxExport, OperatorsOfTwoOperands) {
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind) {
    ModelBuilder b;
    const auto x = b.node(graph::Unary{{UnaryKind::kSoftplus, 0, 0}}, {b.input({2, 3, 4})});
    const auto other = b.node(graph::Unary{{UnaryKind::kSoftplus, 0, 0}}, {b.input({3, 1})});
    b.output(b.node(graph::Binary{static_cast<graph::BinaryKind>(kind)}, {x, other}));
    SCOPED_TRACE(graph::name_of(static_cast<graph::BinaryKind>(kind)));
    expect_same_results(b);
  }
}

TEST_F(OnnxExport, Pooling) {
  using graph::PoolKind;
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    expect_same_result(graph::Pool{kind, {3, 2}, {2, 2}, {1, 1}, {1, 0}, {1, 1}, {0, 0}, false},
                       {1, 3, 8, 9});
    // This is what ceil_mode makes: one row more than fits.
    expect_same_result(graph::Pool{kind, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 0}, {1, 0}, false},
                       {1, 3, 8, 9});
    expect_same_result(graph::GlobalPool{kind}, {1, 3, 4, 5});
  }
  expect_same_result(
      graph::Pool{PoolKind::kAverage, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, true},
      {1, 3, 5, 5});
}

TEST_F(OnnxExport, WindowsThatCeilModeDoesNotGiveAreRefused) {
  ModelBuilder b;
  const graph::Pool pool{graph::PoolKind::kAverage, {2}, {1}, {1}, {0}, {1}, {1}, true};
  b.output(b.node(pool, {b.input({1, 1, 6})}));
  const Status status = refusal(b.build()->graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Pool"));
}

TEST_F(OnnxExport, Movement) {
  expect_same_result(graph::Reshape{{3, 20}}, {3, 4, 5});
  expect_same_result(graph::Transpose{{2, 0, 1}}, {3, 4, 5});
  expect_same_result(graph::Slice{{0, 3, 1}, {3, 4, 2}, {1, -1, 2}}, {3, 4, 5});
  expect_same_result(graph::Slice{{0, 0, 0}, {3, 4, 5}, {1, 1, 1}}, {3, 4, 5});
  expect_same_result(graph::Slice{{2}, {1}, {std::numeric_limits<int64_t>::max()}}, {4});
  expect_same_result(graph::Slice{{2}, {0}, {1}}, {4});
  expect_same_result(graph::Expand{{2, 3, 4}}, {3, 1});
  expect_same_result(graph::Pad{graph::PadMode::kConstant, {1, 0}, {0, -2}, 0.5f}, {3, 4});
  expect_same_result(graph::Pad{graph::PadMode::kReflect, {0, 2}, {1, 1}, 0}, {3, 4});
  expect_same_result(graph::Pad{graph::PadMode::kEdge, {0, 2}, {1, 1}, 0}, {3, 4});
  ModelBuilder b;
  const auto x = b.input({3, 4});
  const auto both = b.node(graph::Concat{1}, {x, b.input({3, 2})});
  b.output(
      b.node(graph::Gather{1}, {both, b.integers<int64_t>({3}, DataType::kInt64, {5, 0, -2})}));
  expect_same_results(b);
}

TEST_F(OnnxExport, ResizeOfEveryKind) {
  using enum graph::CoordinateMode;
  using graph::NearestMode;
  for (const auto coordinates : {kAsymmetric, kHalfPixel, kPytorchHalfPixel, kAlignCorners}) {
    const graph::Dims shape{1, 2, 7, 4};
    const std::vector<float> scales{1, 1, 7 / 3.0f, 4 / 5.0f};
    for (int i = 0; i < 4; ++i)
      expect_same_result(graph::Resize{graph::ResizeMode::kNearest, coordinates,
                                       static_cast<NearestMode>(i), shape, scales},
                         {1, 2, 3, 5});
    expect_same_result(
        graph::Resize{graph::ResizeMode::kLinear, coordinates, NearestMode::kFloor, shape, scales},
        {1, 2, 3, 5});
  }
  // A stated scale that is not the ratio of the sizes.
  expect_same_result(graph::Resize{graph::ResizeMode::kLinear,
                                   kHalfPixel,
                                   NearestMode::kFloor,
                                   {1, 2, 4, 5},
                                   {1, 1, 1.6f, 1}},
                     {1, 2, 3, 5});
}

TEST_F(OnnxExport, ReductionsAndNormalisation) {
  for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
    for (const bool keep_dims : {false, true})
      expect_same_result(graph::Reduce{static_cast<graph::ReduceKind>(kind), {0, 2}, keep_dims},
                         {2, 3, 4});
  expect_same_result(graph::Softmax{1, false}, {2, 5, 3});
  expect_same_result(graph::Softmax{2, true}, {2, 5, 3});
  ModelBuilder b;
  const auto positive = b.constant({{4}, {0.5f, 1, 2, 3}});
  b.output(b.node(graph::BatchNormalization{1e-3f},
                  {b.input({2, 4, 3}), positive, b.constant(weights({4})), b.constant(weights({4})),
                   positive}));
  expect_same_results(b);
}

TEST_F(OnnxExport, LaterOperatorSetsOnlyWhereTheyAreNeeded) {
  const auto set_with = [&](graph::Fallback op, std::vector<graph::Dims> operands) {
    ModelBuilder b;
    const auto x = b.node(graph::Reduce{graph::ReduceKind::kMean, {1}, true}, {b.input({2, 6})});
    std::vector<ValueId> inputs = {b.node(graph::Expand{{2, 6}}, {x})};
    for (const graph::Dims& dims : operands) inputs.push_back(b.constant(weights(dims)));
    b.output(b.fallback(std::move(op), inputs)[0]);
    expect_same_results(b);
    return written(b.build()->graph).opset_import(0).version();
  };
  EXPECT_EQ(set_with({"Sin", {}}, {}), 13);
  EXPECT_EQ(set_with({"LayerNormalization", {{"epsilon", 1e-3f}}}, {{6}, {6}}), 17);
  EXPECT_EQ(set_with({"Gelu", {{"approximate", std::string("tanh")}}}, {}), 20);
}

TEST_F(OnnxExport, AQuantisedConvolutionIsWrittenAsRuntimesExpectIt) {
  ModelBuilder b;
  const auto x = b.input({1, 2, 4, 4});
  const auto q = b.quantised(Requantise{}, {x}, DataType::kUint8, {{1 / 32.0f}, {128}});
  const auto weight = b.quantised_constant<int8_t>({2, 2, 1, 1}, DataType::kInt8, {1, -2, 3, 4},
                                                   {{0.5f, 0.25f}, {0, 0}, 0});
  const auto bias = b.quantised_constant<int32_t>({2}, DataType::kInt32, {64, -32},
                                                  {{1 / 64.0f, 1 / 128.0f}, {0, 0}, 0});
  const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {UnaryKind::kRelu, 0, 0}};
  const auto y = b.quantised(conv, {q, weight, bias, q}, DataType::kInt8, {{1 / 16.0f}, {-128}});
  b.output(b.node(Requantise{}, {y}));
  expect_same_results(b);
  const ::onnx::ModelProto model = written(b.build()->graph);
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_THAT(types_of(model), ElementsAre("QuantizeLinear", "DequantizeLinear", "DequantizeLinear",
                                           "DequantizeLinear", "Conv", "Add", "Relu",
                                           "QuantizeLinear", "DequantizeLinear"));
}

TEST_F(OnnxExport, BoundariesKeepTheirNamesAndNodesHaveNamesOfTheirOwn) {
  ModelBuilder b;
  const auto x = b.input({4});
  b.output(b.node(graph::Unary{{UnaryKind::kGelu, 0, 0}}, {x}));
  auto graph = b.build()->graph;
  graph.values[graph.inputs[0]].name = "picture";
  graph.values[graph.outputs[0]].name = "scores";
  graph.nodes.insert(graph.nodes.begin(), graph.nodes[0]);  // of the same name
  graph.nodes[0].outputs = {graph.add_value(graph.values[graph.outputs[0]])};
  const ::onnx::ModelProto model = written(graph);
  EXPECT_EQ(model.graph().input(0).name(), "picture");
  EXPECT_EQ(model.graph().output(0).name(), "scores");
  Names names;
  for (const auto& node : model.graph().node()) {
    EXPECT_THAT(names, Not(Contains(node.name())));
    names.push_back(node.name());
  }
  EXPECT_TRUE(compiler::compile(path_, {}).ok());
}

TEST_F(OnnxExport, WeightsOf16BitsAreWidenedWhereTheyAreRead) {
  ModelBuilder b(graph::Precision::kBf16);
  b.output(
      b.node(graph::MatMul{}, {b.input({2, 3}), b.constant(weights({3, 4}), DataType::kBf16)}));
  EXPECT_THAT(types_of(written(b.build()->graph)), ElementsAre("Cast", "MatMul"));
}

TEST_F(OnnxExport, WhatOnnxCannotSayIsRefused) {
  ModelBuilder trees;
  trees.output(trees.fallback({"ai.onnx.ml.Normalizer", {}}, {trees.input({2, 3})})[0]);
  EXPECT_EQ(refusal(trees.build()->graph).code(), StatusCode::kUnsupported);

  // A graph holds them as bytes, whose types would not be those of the operator.
  ModelBuilder halves;
  halves.output(halves.fallback({"QuantizeLinear", {{"output_dtype", int64_t{22}}}},
                                {halves.input({4}), halves.constant(Tensor{{}, {0.5f}})})[0]);
  EXPECT_THAT(refusal(halves.build()->graph).message(),
              ::testing::HasSubstr("types that a graph does not have"));

  ModelBuilder sums;
  const auto wide =
      sums.quantised(Requantise{}, {sums.input({4})}, DataType::kInt32, {{0.5f}, {0}});
  sums.output(sums.node(Requantise{}, {wide}));
  const Status status = refusal(sums.build()->graph);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("INT32"));
}

TEST_F(OnnxExport, AFolderThatIsNotThereIsAnError) {
  ModelBuilder b;
  b.output(b.node(graph::Softmax{0, false}, {b.input({4})}));
  const std::string path = directory_.file("nowhere/model.onnx");
  const Status status = compiler::write_onnx(b.build()->graph, path);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

}  // namespace
}  // namespace millrace::test
