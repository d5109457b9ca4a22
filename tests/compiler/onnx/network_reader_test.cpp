// Tests of reading a file as a network.
#include "compiler/onnx/network_reader.h"

#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using ::testing::HasSubstr;
using Proto = ::onnx::AttributeProto;

network::Network read_valid(const Model& model) {
  auto network = read_network(model.bytes(), {});
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  return network.ok() ? *std::move(network) : network::Network{};
}

// An attribute of the last node of `model`.
::onnx::AttributeProto& add_attribute(Model& model, const std::string& name,
                                      Proto::AttributeType type) {
  auto& nodes = *model.proto.mutable_graph()->mutable_node();
  auto& attribute = *nodes[nodes.size() - 1].add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

const network::Network& subgraph(const network::Node& node, size_t attribute) {
  return *std::get<std::shared_ptr<const network::Network>>(node.attributes[attribute].value);
}

Names types_of(const network::Network& network) {
  Names types;
  for (const network::Node& node : network.nodes) types.push_back(node.type);
  return types;
}

TEST(NetworkReader, InputsAndOutputsAsTheFileStatesThem) {
  Model model;
  model.symbolic_input("x", {"batch", "3"}).input("i", {-1}, TensorProto::INT64).output("y");
  const auto network = read_valid(model.node("Relu", {"x"}, {"y"}));
  ASSERT_EQ(network.inputs.size(), 2u);
  ASSERT_EQ(network.inputs[0].shape.size(), 2u);
  EXPECT_EQ(network.inputs[0].shape[0].size, network::Dimension::kOpen);
  EXPECT_EQ(network.inputs[0].shape[0].symbol, "batch");
  EXPECT_EQ(network.inputs[0].shape[1].size, 3);
  EXPECT_EQ(network.inputs[1].type, tensor::DataType::kInt64);
  ASSERT_EQ(network.outputs.size(), 1u);
  EXPECT_EQ(network.outputs[0].type, tensor::DataType::kUnknown);
  EXPECT_EQ(network.opsets.at(""), 13);
}

// Nodes that the compiler marks are not checked again before a job runs them.
TEST(NetworkReader, TheDomainOfTheCompilerIsRefused) {
  Model model;
  model.input("x", {1}).output("y").node("Typo", {"x"}, {"y"});
  model.proto.mutable_graph()->mutable_node(0)->set_domain("millrace.carried");
  const Status status = read_network(model.bytes(), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'y_node' (Typo): its domain 'millrace.carried'"));
}

TEST(NetworkReader, InitializersThatNothingReadsAreLeftOut) {
  Model model;
  model.input("x", {1}).output("y").floats("w", {1}, {2}).floats("v", {1}, {3});
  const auto network = read_valid(model.node("Add", {"x", "w"}, {"y"}));
  ASSERT_EQ(network.initializers.size(), 1u);
  EXPECT_EQ(network.initializers[0].name, "w");
  EXPECT_EQ(content<float>(network.initializers[0]), content<float>({1}, {2}));
}

TEST(NetworkReader, FilesOfTheFirstVersionsLeaveKindsOut) {
  Model model(6);
  model.input("x", {1}).output("y").node("Some", {"x"}, {"y"},
                                         {{"f", 0.5}, {"i", 3}, {"l", Dims{1, 2}}, {"s", "text"}});
  for (auto& attribute : *model.proto.mutable_graph()->mutable_node(0)->mutable_attribute())
    attribute.clear_type();
  const auto network = read_valid(model);
  const auto& attributes = network.nodes[0].attributes;
  ASSERT_EQ(attributes.size(), 4u);
  EXPECT_EQ(std::get<float>(attributes[0].value), 0.5f);
  EXPECT_EQ(std::get<int64_t>(attributes[1].value), 3);
  EXPECT_EQ(std::get<Dims>(attributes[2].value), (Dims{1, 2}));
  EXPECT_EQ(std::get<std::string>(attributes[3].value), "text");
}

TEST(NetworkReader, AnAttributeThatStandsTwiceIsInvalid) {
  Model model;
  model.input("x", {1}).output("y").node("Elu", {"x"}, {"y"}, {{"alpha", 1.0}, {"alpha", 2.0}});
  EXPECT_THAT(read_network(model.bytes(), {}).status().message(), HasSubstr("stands twice"));
}

// The body of a subgraph.
::onnx::GraphProto body(Model model) {
  return model.proto.graph();
}

TEST(NetworkReader, SubgraphsSayWhatTheyCapture) {
  Model inner, outer, model;
  inner.node("Add", {"a", "w"}, {"d"}).output("d").floats("w", {1}, {1});
  outer.node("Relu", {"x"}, {"r"}).node("If", {"r"}, {"i"}).output("i").output("z");
  *add_attribute(outer, "then_branch", Proto::GRAPH).mutable_g() = body(inner);
  model.input("x", {1}).input("z", {1}).output("y").node("If", {"c"}, {"y"});
  *add_attribute(model, "then_branch", Proto::GRAPH).mutable_g() = body(outer);
  model.node("Neg", {"x"}, {"a"}).node("Abs", {"x"}, {"c"});
  const auto network = read_valid(model);
  EXPECT_EQ(types_of(network), (Names{"Neg", "Abs", "If"})) << "before the If that captures them";
  const network::Network& first = subgraph(network.nodes[2], 0);
  EXPECT_EQ(first.captures, (Names{"a", "x", "z"}));
  EXPECT_EQ(first.opsets, network.opsets);
  const network::Network& second = subgraph(first.nodes[1], 0);
  EXPECT_EQ(second.captures, Names{"a"});
  ASSERT_EQ(second.initializers.size(), 1u);
  EXPECT_EQ(network.captures, Names{});
}

TEST(NetworkReader, WhatASubgraphCapturesMustBeThere) {
  Model inner, model;
  inner.node("Relu", {"missing"}, {"r"}).output("r");
  model.input("x", {1}).output("y").node("If", {"x"}, {"y"});
  *add_attribute(model, "then_branch", Proto::GRAPH).mutable_g() = body(inner);
  EXPECT_THAT(read_network(model.bytes(), {}).status().message(),
              HasSubstr("node 'y_node' (If): its input 'missing' is made by no node"));
}

::onnx::FunctionProto& add_function(Model& model, const std::string& name, const Names& inputs,
                                    const Names& outputs, const Model& content) {
  auto& function = *model.proto.add_functions();
  function.set_domain("own");
  function.set_name(name);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  *function.mutable_node() = content.proto.graph().node();
  *function.mutable_opset_import() = model.proto.opset_import();
  return function;
}

void call(Model& model, const std::string& name, const Names& inputs, const Names& outputs,
          const Attributes& attributes = {}) {
  model.node(name, inputs, outputs, attributes);
  auto& nodes = *model.proto.mutable_graph()->mutable_node();
  nodes[nodes.size() - 1].set_domain("own");
}

// y = Twice(Twice(x)), with Twice(a) = Step(Step(a)) and Step(a) = Elu(a)
Model with_functions() {
  Model model, step, twice;
  step.node("Elu", {"a"}, {"b"});
  add_attribute(step, "alpha", Proto::FLOAT).set_ref_attr_name("slope");
  call(twice, "Step", {"a"}, {"m"}, {{"slope", 0.25}});
  call(twice, "Step", {"m"}, {"b"});
  model.domain("own", 1).input("x", {2}).output("y");
  call(model, "Twice", {"x"}, {"m"});
  call(model, "Twice", {"m"}, {"y"});
  add_function(model, "Step", {"a"}, {"b"}, step);
  add_function(model, "Twice", {"a"}, {"b"}, twice);
  return model;
}

TEST(Functions, AreInlinedWithTheirAttributes) {
  const auto network = read_valid(with_functions());
  ASSERT_EQ(types_of(network), (Names{"Elu", "Elu", "Elu", "Elu"}));
  ASSERT_EQ(network.nodes[0].attributes.size(), 1u);
  EXPECT_EQ(std::get<float>(network.nodes[0].attributes[0].value), 0.25f);
  EXPECT_TRUE(network.nodes[1].attributes.empty()) << "the call does not state it";
  import_valid(with_functions());
}

TEST(Functions, InSubgraphsAreInlinedToo) {
  Model branch, model, step;
  call(branch, "Step", {"x"}, {"r"});
  branch.output("r");
  step.node("Relu", {"a"}, {"m"}).node("Neg", {"m"}, {"b"});
  model.domain("own", 1).input("x", {1}).output("y").node("If", {"x"}, {"y"});
  *add_attribute(model, "then_branch", Proto::GRAPH).mutable_g() = body(branch);
  add_function(model, "Step", {"a"}, {"b"}, step);
  const auto network = read_valid(model);
  const network::Network& inner = subgraph(network.nodes[0], 0);
  EXPECT_EQ(types_of(inner), (Names{"Relu", "Neg"}));
  EXPECT_EQ(inner.captures, Names{"x"});
}

TEST(Functions, SubgraphsInBodiesSeeTheValuesOfTheCall) {
  Model branch, content, model;
  branch.node("Neg", {"a"}, {"r"}).output("r");
  content.node("Relu", {"a"}, {"m"}).node("If", {"c"}, {"b"});
  *add_attribute(content, "then_branch", Proto::GRAPH).mutable_g() = body(branch);
  model.domain("own", 1).input("x", {1}).input("flag", {1}, TensorProto::BOOL).output("y");
  call(model, "Choose", {"x", "flag"}, {"y"});
  add_function(model, "Choose", {"a", "c"}, {"b"}, content);
  const auto network = read_valid(model);
  ASSERT_EQ(types_of(network), (Names{"Relu", "If"}));
  EXPECT_EQ(network.nodes[1].inputs, Names{"flag"});
  EXPECT_EQ(subgraph(network.nodes[1], 0).captures, Names{"x"});
}

TEST(Functions, AnOutputMayBeAnInput) {
  Model model, content;
  model.domain("own", 1).input("x", {1}).output("y");
  call(model, "Same", {"x"}, {"y"});
  add_function(model, "Same", {"a"}, {"a"}, content);
  EXPECT_EQ(types_of(read_valid(model)), Names{"Identity"});
}

TEST(Functions, ThatCallThemselvesAreInvalid) {
  Model model, content;
  call(content, "Again", {"a"}, {"b"});
  model.domain("own", 1).input("x", {1}).output("y");
  call(model, "Again", {"x"}, {"y"});
  add_function(model, "Again", {"a"}, {"b"}, content);
  const Status status = read_network(model.bytes(), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("calls itself"));
}

TEST(Functions, CannotMakeAModelOfAnySize) {
  Model model, leaf;
  leaf.node("Relu", {"a"}, {"b"});
  model.domain("own", 1).input("x", {1}).output("y");
  call(model, "F30", {"x"}, {"y"});
  add_function(model, "F0", {"a"}, {"b"}, leaf);
  for (int i = 1; i <= 30; ++i) {
    Model twice;
    const std::string below = "F" + std::to_string(i - 1);
    call(twice, below, {"a"}, {"m"});
    call(twice, below, {"m"}, {"b"});
    add_function(model, "F" + std::to_string(i), {"a"}, {"b"}, twice);
  }
  EXPECT_EQ(read_network(model.bytes(), {}).status().code(), StatusCode::kUnsupported);
}

TEST(Functions, CannotCopyAnAttributeAnyNumberOfTimes) {
  constexpr int kCopies = 70;
  Model model, content;
  for (int i = 0; i < kCopies; ++i) {
    content.node("Elu", {"a"}, {"b" + std::to_string(i)});
    add_attribute(content, "text", Proto::STRING).set_ref_attr_name("text");
  }
  model.domain("own", 1).input("x", {1}).output("y");
  call(model, "Many", {"x"}, {"y"});
  add_attribute(model, "text", Proto::STRING).set_s(std::string(4 << 20, 's'));
  add_function(model, "Many", {"a"}, {"b0"}, content);
  EXPECT_EQ(read_network(model.bytes(), {}).status().code(), StatusCode::kUnsupported);
}

TEST(Functions, OfAnotherOpsetAreUnsupported) {
  Model model = with_functions();
  model.proto.mutable_functions(0)->mutable_opset_import(0)->set_version(15);
  EXPECT_THAT(read_network(model.bytes(), {}).status().message(), HasSubstr("opset 15"));
}

}  // namespace
}  // namespace millrace::compiler::test
