// Whole models: boundaries, order, and what is wrong with them.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using graph::UnaryKind;
using tensor::DataType;
using Operators = std::vector<graph::Operator>;

const graph::Operator kRelu = graph::Unary{{UnaryKind::kRelu}};
const graph::Operator kIdentity = graph::Unary{};

TEST(Import, HalfPrecisionStaysAtTheBoundary) {
  Model model(7);
  model.input("x", {1, 2}, TensorProto::FLOAT16).output("y", TensorProto::FLOAT16);
  model.constant(int_tensor("w", {2}, {0x3c00, 0xc000}, TensorProto::FLOAT16));
  const auto graph = import_valid(model.node("Mul", {"x", "w"}, {"y"}));
  EXPECT_EQ(operators_of(graph),
            (Operators{graph::Cast{DataType::kFloat32}, graph::Binary{graph::BinaryKind::kMul},
                       graph::Cast{DataType::kFp16}}));
  const graph::Value& input = graph.values[graph.inputs[0]];
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.type, DataType::kFp16);
  EXPECT_EQ(output_of(graph).name, "y");
  EXPECT_EQ(output_of(graph).type, DataType::kFp16);
  EXPECT_EQ(graph.values[graph.nodes[1].outputs[0]].type, DataType::kFloat32);
}

TEST(Import, AnInputThatIsAnOutput) {
  Model model;
  const auto graph = import_valid(model.input("x", {1, 2}).output("x"));
  EXPECT_EQ(operators_of(graph), Operators{kIdentity});
}

TEST(Import, TwoNamesOfOneOutput) {
  Model model;
  model.input("x", {1, 2}).output("a").output("b");
  const auto graph = import_valid(model.node("Relu", {"x"}, {"a"}).node("Identity", {"a"}, {"b"}));
  EXPECT_EQ(operators_of(graph), (Operators{kRelu, kIdentity}));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "a");
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "b");
}

TEST(Import, OutputBehindADroppedNodeKeepsItsName) {
  Model model;
  model.input("x", {1, 2}).output("y").node("Relu", {"x"}, {"a"}).node("Dropout", {"a"}, {"y"});
  const auto graph = import_valid(model);
  EXPECT_EQ(operators_of(graph), Operators{kRelu});
  EXPECT_EQ(output_of(graph).name, "y");
}

TEST(Import, NodesInAnyOrder) {
  Model model;
  model.input("x", {1, 2}).output("y").node("Relu", {"a"}, {"y"}).node("Neg", {"x"}, {"a"});
  EXPECT_EQ(operators_of(import_valid(model)), (Operators{graph::Unary{{UnaryKind::kNeg}}, kRelu}));
}

TEST(Import, DefaultDomainByItsLongName) {
  Model model;
  model.input("x", {1, 2}).output("y").node("Relu", {"x"}, {"y"});
  model.proto.mutable_opset_import(0)->set_domain("ai.onnx");
  model.proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(operators_of(import_valid(model)), Operators{kRelu});
}

TEST(Import, AModelNeedsAnOpset) {
  Model model(0);
  const Status status =
      import_failure(model.input("x", {1}).output("y").node("Relu", {"x"}, {"y"}));
  EXPECT_NE(status.message().find("opset"), std::string::npos) << status.message();
}

TEST(Import, OperatorsKeepTheirMeaningInLaterOpsets) {
  for (const int opset : {1, 22, 23, 24, 25, 26, 27, 28, 1 << 30}) {
    Model model(opset);
    model.input("x", {1}).output("y").node("Relu", {"x"}, {"y"});
    EXPECT_EQ(operators_of(import_valid(model)), Operators{kRelu}) << opset;
  }
}

// No file has an operator of opset 23 or later with an attribute of its own that changes nothing.
TEST(Import, RefusesUnknownAttributesOfNewOperators) {
  struct Case {
    int opset;
    const char* type;
    std::vector<std::string> inputs;
    Attributes required;
  };
  const std::vector<Case> cases = {
      {23, "Attention", {"heads", "heads", "heads"}, {}},
      {23, "RMSNormalization", {"heads", "scale"}, {}},
      {23, "RotaryEmbedding", {"heads", "table", "table", "positions"}, {}},
      {24, "Swish", {"heads"}, {}},
      {24, "TensorScatter", {"heads", "heads"}, {}},
      {26, "BitCast", {"heads"}, {{"to", TensorProto::INT32}}},
      {26, "CumProd", {"heads", "axis"}, {}},
  };
  for (const Case& test : cases) {
    const auto model = [&](bool has_unknown) {
      Attributes attributes = test.required;
      if (has_unknown) attributes.push_back({"window", 3});
      Model model(test.opset);
      model.input("heads", {1, 2, 4, 8}).floats("scale", {8}, Floats(8, 1));
      model.floats("table", {4, 4}, Floats(16, 1));
      model.constant(int_tensor("positions", {1, 4}, {0, 1, 2, 3}));
      model.constant(int_tensor("axis", {}, {1}));
      return model.output("y").node(test.type, test.inputs, {"y"}, attributes);
    };
    EXPECT_TRUE(model(false).import().ok()) << model(false).import().status().to_string();
    const std::string message = import_failure(model(true)).message();
    EXPECT_NE(message.find("'window' is not supported"), std::string::npos) << message;
  }
}

// An attribute that a later opset has added may change the result.
TEST(Import, AttributesOfLaterOpsetsAreNotIgnored) {
  for (const char* type : {"Relu", "Softmax"}) {
    const auto model = [type](int opset) {
      Model model(opset);
      return model.input("x", {2, 2}).output("y").node(type, {"x"}, {"y"}, {{"window", 3}});
    };
    EXPECT_TRUE(model(27).import().ok()) << type;
    const std::string message = import_failure(model(28)).message();
    EXPECT_NE(message.find("'window'"), std::string::npos) << message;
  }
  Model known(28);
  known.input("x", {1, 1, 4, 4}).output("y");
  known.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Dims{2, 2}}, {"storage_order", 0}});
  EXPECT_TRUE(known.import().ok()) << known.import().status().to_string();
}

TEST(Import, OneErrorNamesAllThatIsNotSupported) {
  Model model;
  model.domain("com.example", 2).input("x", {1, 2}).output("y");
  model.node("StringNormalizer", {"x"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("StringNormalizer", {"b"}, {"c"});
  model.node("Clever", {"c"}, {"d"}).node("Where", {"d", "d", "d"}, {"y"});
  model.proto.mutable_graph()->mutable_node(3)->set_domain("com.example");
  const Status status = import_failure(model);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(
      status.message(),
      "3 nodes are not supported:\n"
      "  Clever (domain com.example, opset 2), 1 node: 'd_node'\n"
      "  StringNormalizer (domain ai.onnx, opset 13), 2 nodes: 'a_node', 'c_node'\n"
      "  2 more nodes downstream of or inside these, of unknown types and shapes: only the names "
      "could be checked: Relu (1), Where (1)");
}

// A graph with one node, for the branch of an If.
::onnx::GraphProto branch(const std::string& type, const std::string& output) {
  Model model;
  model.node(type, {"x"}, {output}).output(output);
  return model.proto.graph();
}

void add_branch(Model& model, const std::string& name, ::onnx::GraphProto graph) {
  auto* node = model.proto.mutable_graph()->mutable_node(model.proto.graph().node_size() - 1);
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = std::move(graph);
}

TEST(Import, TheErrorNamesNodesInsideBranches) {
  Model inner;
  inner.node("If", {"c"}, {"i"}).output("i");
  add_branch(inner, "then_branch", branch("StringSplit", "g"));
  Model model;
  model.input("x", {1, 2}).input("c", {1}, TensorProto::BOOL).output("y");
  model.node("If", {"c"}, {"y"});
  add_branch(model, "then_branch", branch("StringNormalizer", "a"));
  add_branch(model, "else_branch", inner.proto.graph());
  EXPECT_EQ(
      import_failure(model).message(),
      "3 nodes are not supported:\n"
      "  If (domain ai.onnx, opset 13: its condition 'c' is not a constant), 1 node: 'y_node'\n"
      "  StringNormalizer (domain ai.onnx, opset 13), 1 node: 'y_node/then_branch/a_node'\n"
      "  StringSplit (domain ai.onnx, opset 13), 1 node: "
      "'y_node/else_branch/i_node/then_branch/g_node'\n"
      "  1 more node downstream of or inside these, of unknown types and shapes: only the name "
      "could be checked: If (1)");
}

TEST(Import, ANodeInsideABranchThatIsCoveredIsCounted) {
  Model model;
  model.input("x", {1, 2}).input("c", {1}, TensorProto::BOOL).output("y").node("If", {"c"}, {"y"});
  add_branch(model, "then_branch", branch("Relu", "a"));
  add_branch(model, "else_branch", branch("StringNormalizer", "a"));
  EXPECT_THAT(
      import_failure(model).message(),
      ::testing::EndsWith("\n  1 more node downstream of or inside these, of unknown types and "
                          "shapes: only the name could be checked: Relu (1)"));
}

TEST(Import, TypesWithoutAKernelAreNamedLikeOperatorsThatAreNotSupported) {
  Model model(14);
  model.input("x", {1, 2}, TensorProto::INT32).output("y").output("z");
  model.node("Sqrt", {"x"}, {"a"}).node("Floor", {"a"}, {"b"}).node("Reshape", {"b", "s"}, {"y"});
  model.ints("s", {2}).node("StringNormalizer", {"b"}, {"z"});
  const Status status = import_failure(model);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(
      status.message(),
      "3 nodes are not supported:\n"
      "  Floor (domain ai.onnx, opset 14: there is no kernel for Floor of INT32, only of BF16, "
      "FP16, FLOAT32), 1 node: 'b_node'\n"
      "  Sqrt (domain ai.onnx, opset 14: there is no kernel for Sqrt of INT32, only of BF16, "
      "FP16, FLOAT32), 1 node: 'a_node'\n"
      "  StringNormalizer (domain ai.onnx, opset 14), 1 node: 'z_node'");
}

TEST(Import, ANodeThatBecameSeveralIsNamedOnce) {
  Model model(12);
  model.input("x", {2, 3, 4}, TensorProto::DOUBLE).output("y").node("Softmax", {"x"}, {"y"});
  EXPECT_THAT(import_failure(model).message(), ::testing::StartsWith("1 node is not supported:"));
}

TEST(Import, TypesOfNodesThatOnlyAShapeReadsDoNotMatter) {
  Model model;
  model.input("x", {2, 3}, TensorProto::INT32).input("z", {6}).output("y");
  model.node("Neg", {"x"}, {"n"}).node("Shape", {"n"}, {"s"}).node("Reshape", {"z", "s"}, {"y"});
  EXPECT_EQ(operators_of(import_valid(model)), (Operators{graph::Reshape{{2, 3}}}));
}

TEST(Import, AModelOfOtherDomainsAloneNeedNotStateTheDefaultOne) {
  Model model;
  model.proto.clear_opset_import();
  model.domain("ai.onnx.ml", 3).input("x", {1, 4}).output("y");
  model.node("DictVectorizer", {"x"}, {"a"}).node("CastMap", {"a"}, {"y"});
  for (auto& node : *model.proto.mutable_graph()->mutable_node()) node.set_domain("ai.onnx.ml");
  const Status status = import_failure(model);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "2 nodes are not supported:\n"
            "  CastMap (domain ai.onnx.ml, opset 3), 1 node: 'y_node'\n"
            "  DictVectorizer (domain ai.onnx.ml, opset 3), 1 node: 'a_node'");
}

TEST(Import, AModelThatUsesTheDefaultDomainStatesItsOpset) {
  Model model;
  model.proto.clear_opset_import();
  model.domain("ai.onnx.ml", 3).input("x", {1, 4}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_EQ(import_failure(model).message(),
            "the model does not state the opset of domain ai.onnx");
}

TEST(Import, OfManyNodesTheErrorNamesTheFirst) {
  Model model;
  model.input("n0", {1, 2}).output("n20");
  for (int i = 0; i < 20; ++i)
    model.node("StringNormalizer", {fmt::format("n{}", i)}, {fmt::format("n{}", i + 1)});
  EXPECT_THAT(import_failure(model).message(),
              ::testing::EndsWith(", 20 nodes: 'n1_node', 'n2_node', 'n3_node', 'n4_node', "
                                  "'n5_node' and 15 more"));
}

TEST(Import, NamesWithLineEndsDoNotBreakTheListOfWhatIsNotSupported) {
  Model model;
  model.input("x", {1, 2}).output("y").node("StringNormalizer", {"x"}, {"y"});
  model.proto.mutable_graph()->mutable_node(0)->set_name("two\n  lines");
  EXPECT_THAT(import_failure(model).message(), ::testing::EndsWith("'two   lines'"));
}

TEST(Import, OperatorsOfLaterOpsetsAreNotSupported) {
  Model early(8);
  early.input("x", {1}).output("y").node("Erf", {"x"}, {"y"});
  EXPECT_EQ(import_failure(early).code(), StatusCode::kUnsupported);
}

TEST(Import, UnusedUnreadableInitializersDoNoHarm) {
  Model model;
  model.input("x", {1, 2}).output("y").node("Relu", {"x"}, {"y"});
  model.constant(int_tensor("text", {1}, {1}, TensorProto::STRING));
  EXPECT_EQ(import_valid(model).values.size(), 2u);
}

struct Inconsistent {
  const char* reason;
  Model model;
};

TEST(Import, InconsistentModelsNameTheNode) {
  const auto base = [] { return Model().input("x", {1, 2}).output("y"); };
  const Inconsistent cases[] = {
      {"'missing' is made by no node", base().node("Add", {"x", "missing"}, {"y"})},
      {"depends on its own output", base().node("Add", {"x", "y"}, {"y"})},
      {"depends on its own output", base().node("Relu", {"a"}, {"y"}).node("Relu", {"y"}, {"a"})},
      {"'y' exists already", base().node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"y"})},
      {"'x' exists already", base().node("Relu", {"x"}, {"x"})},
      {"do not broadcast", base().floats("w", {3}, {1, 2, 3}).node("Add", {"x", "w"}, {"y"})},
      {"1 inputs", base().node("Add", {"x"}, {"y"})},
      {"is missing", base().node("Add", {"x", ""}, {"y"})},
      {"is missing", base().node("Sum", {"x", ""}, {"y"})},
      {"no output", base().node("Relu", {"x"}, {}).node("Relu", {"x"}, {"y"})},
  };
  for (const Inconsistent& test : cases) {
    const Status status = import_failure(test.model);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
    EXPECT_NE(status.message().find(test.reason), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("node '"), std::string::npos) << status.message();
  }
}

TEST(Import, InconsistentBoundaries) {
  const auto relu = [] { return Model().input("x", {1, 2}).node("Relu", {"x"}, {"y"}); };
  EXPECT_EQ(import_failure(relu()).message(), "the model has no outputs");
  EXPECT_EQ(import_failure(relu().output("z")).message(), "output 'z': no node makes it");
  EXPECT_EQ(import_failure(relu().output("y", TensorProto::INT64)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_NE(import_failure(relu().input("x", {1}).output("y")).message().find("two inputs 'x'"),
            std::string::npos);
  EXPECT_EQ(import_failure(relu().output("y").output("y")).message(),
            "output 'y': the model lists it twice");
  Model twice = relu().output("y");
  twice.floats("w", {1}, {1}).floats("w", {1}, {2});
  EXPECT_NE(import_failure(twice).message().find("two initializers 'w'"), std::string::npos);
}

TEST(Import, WhatIsNoModelIsCorrupt) {
  for (const std::string& content : {std::string(), std::string("not a protobuf"),
                                     std::string(100, '\xff'), std::string("\x08\x07", 2)}) {
    EXPECT_EQ(import_content(content).status().code(), StatusCode::kCorruptData);
  }
}

TEST(Import, MissingFile) {
  const Status status = read_network_file("/nowhere/model.onnx").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/nowhere/model.onnx"), std::string::npos);
}

}  // namespace
}  // namespace millrace::compiler::test
