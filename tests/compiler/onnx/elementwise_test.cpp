// Elementwise operators and products of matrices.
#include <gmock/gmock.h>

#include <limits>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using graph::BinaryKind;
using graph::UnaryKind;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kHighest = std::numeric_limits<float>::max();

struct UnaryCase {
  int opset;
  const char* type;
  Attributes attributes;
  graph::Activation expected;
};

TEST(ElementwiseImport, OneOperandAndItsAttributes) {
  const UnaryCase cases[] = {
      {7, "Relu", {}, {UnaryKind::kRelu}},
      {7, "Sigmoid", {}, {UnaryKind::kSigmoid}},
      {7, "Tanh", {}, {UnaryKind::kTanh}},
      {7, "Exp", {}, {UnaryKind::kExp}},
      {7, "Log", {}, {UnaryKind::kLog}},
      {7, "Sqrt", {}, {UnaryKind::kSqrt}},
      {7, "Abs", {}, {UnaryKind::kAbs}},
      {7, "Neg", {}, {UnaryKind::kNeg}},
      {7, "Floor", {}, {UnaryKind::kFloor}},
      {7, "Ceil", {}, {UnaryKind::kCeil}},
      {7, "Reciprocal", {}, {UnaryKind::kReciprocal}},
      {7, "Softplus", {}, {UnaryKind::kSoftplus}},
      {9, "Erf", {}, {UnaryKind::kErf}},
      {11, "Round", {}, {UnaryKind::kRound}},
      {14, "HardSwish", {}, {UnaryKind::kHardSwish}},
      {11, "HardSwish", {}, {UnaryKind::kHardSwish}},
      {20, "Gelu", {}, {UnaryKind::kGelu}},
      {24, "Swish", {}, {UnaryKind::kSwish}},
      {7, "LeakyRelu", {}, {UnaryKind::kLeakyRelu, 0.01f}},
      {16, "LeakyRelu", {{"alpha", 0.25}}, {UnaryKind::kLeakyRelu, 0.25f}},
      {7, "Elu", {{"alpha", 2.0}}, {UnaryKind::kElu, 2}},
      {7, "HardSigmoid", {}, {UnaryKind::kHardSigmoid, 0.2f, 0.5f}},
      {7, "HardSigmoid", {{"alpha", 0.5}, {"beta", 0.25}}, {UnaryKind::kHardSigmoid, 0.5f, 0.25f}},
      {7, "Clip", {{"min", -1.0}, {"max", 6.0}}, {UnaryKind::kClip, -1, 6}},
      {7, "Clip", {{"max", 6.0}}, {UnaryKind::kClip, kLowest, 6}},
      {7, "Clip", {{"min", 0.0}}, {UnaryKind::kRelu}},
      {7, "Clip", {{"min", 3.0}, {"max", 2.0}}, {UnaryKind::kClip, 2, 2}},
  };
  for (const UnaryCase& test : cases) {
    Model model(test.opset);
    model.input("x", {1, 3}).output("y").node(test.type, {"x"}, {"y"}, test.attributes);
    const auto graph = import_valid(model);
    EXPECT_EQ(operators_of(graph), std::vector<graph::Operator>{graph::Unary{test.expected}})
        << test.type << " of opset " << test.opset;
  }
}

TEST(ElementwiseImport, SwishScalesTheGate) {
  Model model(24);
  model.input("x", {1, 3}).output("y").node("Swish", {"x"}, {"y"}, {{"alpha", 2.0}});
  EXPECT_EQ(operators_of(import_valid(model)),
            (std::vector<graph::Operator>{graph::Unary{{UnaryKind::kLinear, 2}},
                                          graph::Unary{{UnaryKind::kSigmoid}},
                                          graph::Binary{BinaryKind::kMul}}));
}

TEST(ElementwiseImport, TwoOperandsBroadcast) {
  const std::pair<const char*, BinaryKind> cases[] = {
      {"Add", BinaryKind::kAdd}, {"Sub", BinaryKind::kSub}, {"Mul", BinaryKind::kMul},
      {"Div", BinaryKind::kDiv}, {"Pow", BinaryKind::kPow}, {"PRelu", BinaryKind::kPrelu},
      {"Min", BinaryKind::kMin}, {"Max", BinaryKind::kMax}, {"Sum", BinaryKind::kAdd}};
  for (const auto& [type, kind] : cases) {
    Model model;
    model.input("a", {1, 3, 4}).input("b", {3, 1}).output("y").node(type, {"a", "b"}, {"y"});
    const auto graph = import_valid(model);
    EXPECT_EQ(operators_of(graph), std::vector<graph::Operator>{graph::Binary{kind}}) << type;
    EXPECT_EQ(output_of(graph).shape, (Dims{1, 3, 4})) << type;
  }
}

TEST(ElementwiseImport, ListsBecomeChains) {
  Model model(8);
  model.input("a", {1, 2}).input("b", {1, 2}).input("c", {1, 2}).output("y");
  const auto sum = import_valid(Model(model).node("Sum", {"a", "b", "c"}, {"y"}));
  const graph::Operator add = graph::Binary{BinaryKind::kAdd};
  EXPECT_EQ(operators_of(sum), (std::vector<graph::Operator>{add, add}));
  EXPECT_EQ(sum.nodes[1].inputs, (std::vector<graph::ValueId>{sum.nodes[0].outputs[0], 2}));

  const auto mean = import_valid(Model(model).node("Mean", {"a", "b", "c"}, {"y"}));
  const graph::Operator third = graph::Unary{{UnaryKind::kLinear, 1.0f / 3, 0}};
  EXPECT_EQ(operators_of(mean), (std::vector<graph::Operator>{add, add, third}));
}

struct ClipBounds {
  Names inputs;
  std::vector<graph::Operator> expected;
};

TEST(ElementwiseImport, ClipTakesBoundsAsOperandsFromOpset11) {
  const graph::Operator max = graph::Binary{BinaryKind::kMax};
  const graph::Operator min = graph::Binary{BinaryKind::kMin};
  const ClipBounds cases[] = {
      {{"x", "low", "high"}, {graph::Unary{{UnaryKind::kClip, -1, 6}}}},
      {{"x", "", "high"}, {graph::Unary{{UnaryKind::kClip, kLowest, 6}}}},
      {{"x", "low"}, {graph::Unary{{UnaryKind::kClip, -1, kHighest}}}},
      {{"x", "zero"}, {graph::Unary{{UnaryKind::kRelu}}}},
      {{"x", "high", "low"}, {graph::Unary{{UnaryKind::kClip, -1, -1}}}},
      {{"x", "computed", "high"}, {max, min}},  // bounds known at run time only
  };
  for (const ClipBounds& test : cases) {
    Model model(11);
    model.input("x", {1, 3}).input("computed", {1}).output("y");
    model.floats("low", {}, {-1}).floats("high", {}, {6}).floats("zero", {}, {0});
    EXPECT_EQ(operators_of(import_valid(model.node("Clip", test.inputs, {"y"}))), test.expected);
  }
}

TEST(ElementwiseImport, PowByANumber) {
  Model model;
  model.input("x", {1, 3}).output("y").constant(int_tensor("two", {}, {2}));
  const auto graph = import_valid(model.node("Pow", {"x", "two"}, {"y"}));
  EXPECT_EQ(operators_of(graph),
            (std::vector<graph::Operator>{graph::Unary{{UnaryKind::kPow, 2}}}));
}

TEST(ElementwiseImport, PowOfIntegersByAFraction) {
  Model model(13);
  model.ints("x", {4, 9}).floats("half", {}, {0.5f}).node("Pow", {"x", "half"}, {"y"});
  EXPECT_EQ(content<int64_t>(computed(model)).second, (std::vector<int64_t>{2, 3}));
}

TEST(ElementwiseImport, CompositionsComputeWhatTheyStandFor) {
  Model model(18);
  model.floats("x", {3}, {-1, 0, 2});
  const auto mish = content<float>(computed(Model(model).node("Mish", {"x"}, {"y"}))).second;
  EXPECT_NEAR(mish[0], -0.303401f, 1e-5);
  EXPECT_NEAR(mish[2], 1.943959f, 1e-5);
  const auto selu = content<float>(computed(Model(model).node("Selu", {"x"}, {"y"}))).second;
  EXPECT_NEAR(selu[0], -1.111331f, 1e-5);
  EXPECT_NEAR(selu[2], 2.101402f, 1e-5);
}

// The standard has it since opset 14; some exporters write it into models of earlier ones.
TEST(ElementwiseImport, HardSwishOfEarlierOpsets) {
  for (const int opset : {7, 11, 13}) {
    Model model(opset);
    model.floats("x", {5}, {-4, -1, 0, 2, 4}).node("HardSwish", {"x"}, {"y"});
    EXPECT_THAT(content<float>(computed(model)).second,
                Pointwise(FloatNear(1e-6f), Floats{0, -1.0f / 3, 0, 5.0f / 3, 4}))
        << "opset " << opset;
  }
}

TEST(ElementwiseImport, IdentityAndDropoutLeaveNothing) {
  Model model;
  model.input("x", {1, 3}).output("y").node("Relu", {"x"}, {"a"});
  model.node("Identity", {"a"}, {"b"}).node("Dropout", {"b"}, {"c", "mask"});
  model.node("Neg", {"c"}, {"y"});
  const auto graph = import_valid(model);
  EXPECT_EQ(operators_of(graph), (std::vector<graph::Operator>{graph::Unary{{UnaryKind::kRelu}},
                                                               graph::Unary{{UnaryKind::kNeg}}}));
}

TEST(ElementwiseImport, DropoutInTrainingIsNotSupported) {
  Model model;
  model.input("x", {1, 3}).output("y").floats("ratio", {}, {0.5f});
  model.constant(int_tensor("training", {}, {1}, TensorProto::BOOL));
  const Status status = import_failure(model.node("Dropout", {"x", "ratio", "training"}, {"y"}));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
}

TEST(ElementwiseImport, CastsOfComputedTypes) {
  Model model;
  model.input("x", {1, 3}, TensorProto::UINT8).output("y");
  model.node("Cast", {"x"}, {"f"}, {{"to", TensorProto::FLOAT}});
  // Computed in FLOAT32 like all 16-bit floats, so there is nothing to convert.
  model.node("Cast", {"f"}, {"y"}, {{"to", TensorProto::FLOAT16}});
  const auto graph = import_valid(model);
  EXPECT_EQ(operators_of(graph),
            (std::vector<graph::Operator>{graph::Cast{tensor::DataType::kFloat32}}));
}

TEST(MatMulImport, GemmFoldsBetaIntoAConstantBias) {
  Model model;
  model.input("a", {5, 2}).output("y").floats("b", {5, 3}, Floats(15)).floats("c", {3}, {1, 2, 3});
  model.node("Gemm", {"a", "b", "c"}, {"y"}, {{"transA", 1}, {"alpha", 0.5}, {"beta", 2.0}});
  const auto graph = import_valid(model);
  EXPECT_EQ(operators_of(graph),
            (std::vector<graph::Operator>{graph::MatMul{true, false, 0.5f, {}}}));
  EXPECT_EQ(content<float>(graph.values[graph.nodes[0].input(2)]), content<float>({3}, {2, 4, 6}));
  EXPECT_EQ(output_of(graph).shape, (Dims{2, 3}));
}

TEST(MatMulImport, GemmWithoutABias) {
  Model model(11);
  model.input("a", {1, 5}).output("y").floats("b", {3, 5}, Floats(15));
  const auto graph = import_valid(model.node("Gemm", {"a", "b"}, {"y"}, {{"transB", 1}}));
  EXPECT_EQ(operators_of(graph), (std::vector<graph::Operator>{graph::MatMul{false, true, 1, {}}}));
}

TEST(MatMulImport, InnerDimensionsMustAgree) {
  Model model;
  model.input("a", {1, 5}).output("y").floats("b", {4, 3}, Floats(12));
  const Status status = import_failure(model.node("MatMul", {"a", "b"}, {"y"}));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("node 'y_node' (MatMul)"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace millrace::compiler::test
