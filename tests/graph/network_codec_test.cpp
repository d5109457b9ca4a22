// Archives of models with a network: what is written comes back, and what does not fit together is
// refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "graph/archive/codec.h"
#include "graph/network/check.h"
#include "tests/graph/dynamic_model.h"
#include "tests/support/archive_mutation.h"

namespace millrace::graph {
namespace {

using model::Archive;
using network::Network;
using ::testing::HasSubstr;

Result<CompiledModel> round_trip(const CompiledModel& model) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(archive_bytes(encode(model)));
  MILLRACE_ASSIGN_OR_RETURN(const auto archive, Archive::from_memory(*bytes, bytes));
  return decode(archive);
}

void expect_same_constant(const Value& actual, const Value& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.type, expected.type);
  EXPECT_EQ(actual.shape, expected.shape);
  ASSERT_TRUE(actual.constant && expected.constant);
  EXPECT_TRUE(std::ranges::equal(actual.constant->bytes, expected.constant->bytes));
}

void expect_same_declarations(const std::vector<network::Input>& actual,
                              const std::vector<network::Input>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].type, expected[i].type);
    EXPECT_EQ(actual[i].has_shape, expected[i].has_shape);
    ASSERT_EQ(actual[i].shape.size(), expected[i].shape.size());
    for (size_t d = 0; d < expected[i].shape.size(); ++d) {
      EXPECT_EQ(actual[i].shape[d].size, expected[i].shape[d].size);
      EXPECT_EQ(actual[i].shape[d].symbol, expected[i].shape[d].symbol);
    }
  }
}

void expect_same_network(const Network& actual, const Network& expected);

// Compares the values of an attribute, of which one kind after another is tried.
struct SameValue {
  const network::Attribute::Value& actual;

  void operator()(const Value& expected) const {
    ASSERT_TRUE(std::holds_alternative<Value>(actual));
    expect_same_constant(std::get<Value>(actual), expected);
  }
  void operator()(const std::shared_ptr<const Network>& expected) const {
    using Subgraph = std::shared_ptr<const Network>;
    ASSERT_TRUE(std::holds_alternative<Subgraph>(actual));
    expect_same_network(*std::get<Subgraph>(actual), *expected);
  }
  template <class Plain>
  void operator()(const Plain& expected) const {
    ASSERT_TRUE(std::holds_alternative<Plain>(actual));
    EXPECT_EQ(std::get<Plain>(actual), expected);
  }
};

void expect_same_node(const network::Node& actual, const network::Node& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.domain, expected.domain);
  EXPECT_EQ(actual.type, expected.type);
  EXPECT_EQ(actual.inputs, expected.inputs);
  EXPECT_EQ(actual.outputs, expected.outputs);
  ASSERT_EQ(actual.attributes.size(), expected.attributes.size());
  for (size_t i = 0; i < expected.attributes.size(); ++i) {
    SCOPED_TRACE(expected.attributes[i].name);
    EXPECT_EQ(actual.attributes[i].name, expected.attributes[i].name);
    std::visit(SameValue{actual.attributes[i].value}, expected.attributes[i].value);
  }
}

void expect_same_network(const Network& actual, const Network& expected) {
  EXPECT_EQ(actual.opsets, expected.opsets);
  expect_same_declarations(actual.inputs, expected.inputs);
  expect_same_declarations(actual.outputs, expected.outputs);
  ASSERT_EQ(actual.initializers.size(), expected.initializers.size());
  for (size_t i = 0; i < expected.initializers.size(); ++i) {
    expect_same_constant(actual.initializers[i], expected.initializers[i]);
  }
  ASSERT_EQ(actual.nodes.size(), expected.nodes.size());
  for (size_t i = 0; i < expected.nodes.size(); ++i) {
    SCOPED_TRACE(expected.nodes[i].name);
    expect_same_node(actual.nodes[i], expected.nodes[i]);
  }
  EXPECT_EQ(actual.captures, expected.captures);
}

TEST(NetworkCodec, RoundTripKeepsEverything) {
  const CompiledModel expected = test::dynamic_model();
  const auto actual = round_trip(expected);
  ASSERT_TRUE(actual.ok()) << actual.status().to_string();
  EXPECT_EQ(actual->batch_size, expected.batch_size);
  EXPECT_EQ(actual->cpu_operators, expected.cpu_operators);
  ASSERT_NE(actual->network, nullptr);
  expect_same_network(*actual->network, *expected.network);
  ASSERT_EQ(actual->inputs.size(), expected.inputs.size());
  for (size_t i = 0; i < expected.inputs.size(); ++i) {
    EXPECT_EQ(actual->inputs[i].cpu, expected.inputs[i].cpu);
    EXPECT_EQ(actual->inputs[i].open, expected.inputs[i].open);
  }
  ASSERT_EQ(actual->profiles.size(), expected.profiles.size());
  for (size_t i = 0; i < expected.profiles.size(); ++i) {
    EXPECT_EQ(actual->profiles[i].name, expected.profiles[i].name);
    EXPECT_EQ(actual->profiles[i].shapes, expected.profiles[i].shapes);
  }
  EXPECT_TRUE(actual->graph.inputs.empty());
  EXPECT_EQ(archive_bytes(encode(*actual)), archive_bytes(encode(expected)));
}

// A reader of version 1 takes the archive for a newer one.
TEST(NetworkCodec, AnArchiveWithANetworkHasTheNewerVersion) {
  const auto bytes = archive_bytes(encode(test::dynamic_model()));
  EXPECT_EQ(test::load_at<uint32_t>(bytes, 8), 2u);
}

struct HostileCase {
  std::string name;
  std::function<void(CompiledModel&, Network&)> change;
  std::string reason;  // part of the message
};

// The body of the Loop.
Network& change_body(Network& model, const std::function<void(Network&)>& change) {
  auto& body = std::get<std::shared_ptr<const Network>>(model.nodes[1].attributes[0].value);
  auto changed = std::make_shared<Network>(*body);
  change(*changed);
  body = changed;
  return model;
}

Network nested(size_t depth) {
  Network network;
  if (depth == 0) return network;
  const auto inner = std::make_shared<const Network>(nested(depth - 1));
  network.nodes = {{"n", "", "If", {}, {}, {{"then_branch", inner}}}};
  return network;
}

std::vector<HostileCase> network_cases() {
  return {
      {"ReadsBeforeMade", [](auto&, auto& n) { std::swap(n.nodes[0], n.nodes[1]); },
       "reads 'scores' before it is made"},
      {"MadeTwice", [](auto&, auto& n) { n.nodes[2].outputs[0] = "scores"; }, "made twice"},
      {"MakesAnInput", [](auto&, auto& n) { n.nodes[2].outputs[0] = "image"; }, "made twice"},
      {"InitializerOfAnInput", [](auto&, auto& n) { n.initializers[0].name = "image"; },
       "made twice"},
      {"InitializerWithoutName", [](auto&, auto& n) { n.initializers[0].name = ""; }, "no name"},
      {"InitializerTooShort", [](auto&, auto& n) { n.initializers[0].shape = {3}; }, "constant of"},
      {"InitializerOverflows",
       [](auto&, auto& n) { n.initializers[1].shape = Dims(8, int64_t{1} << 62); }, "elements"},
      {"InitializerNegative", [](auto&, auto& n) { n.initializers[0].shape = {-2}; }, "dimension"},
      {"InitializerWithoutElements", [](auto&, auto& n) { n.initializers[0].constant.reset(); },
       "has no data"},
      {"InitializerOfNoType",
       [](auto&, auto& n) { n.initializers[0].type = tensor::DataType::kUnknown; },
       "no known type"},
      {"TensorTooShort",
       [](auto&, auto& n) { std::get<Value>(n.nodes[0].attributes[6].value).shape = {9}; },
       "constant of"},
      {"NodeWithoutOperator", [](auto&, auto& n) { n.nodes[2].type = ""; }, "no operator"},
      {"NodeNotUtf8", [](auto&, auto& n) { n.nodes[2].name = "\xff"; }, "UTF-8"},
      {"OperandNotUtf8", [](auto&, auto& n) { n.nodes[0].inputs[1] = "\xff"; }, "UTF-8"},
      {"AttributeTwice", [](auto&, auto& n) { n.nodes[0].attributes[1].name = "an_integer"; },
       "twice"},
      {"OutputOfNothing",
       [](auto& m, auto& n) { n.outputs[0].name = m.outputs[0].cpu.name = "none"; },
       "reads 'none'"},
      {"OpsetZero", [](auto&, auto& n) { n.opsets[""] = 0; }, "opset"},
      {"DimensionBelowOpen", [](auto&, auto& n) { n.inputs[0].shape[2].size = -2; }, "dimension"},
      {"RankHuge", [](auto&, auto& n) { n.outputs[0].shape.resize(500); }, "rank 500"},
      {"CapturesOfAModel", [](auto&, auto& n) { n.captures = {"scores"}; }, "captures 'scores'"},
  };
}

std::vector<HostileCase> subgraph_cases() {
  return {
      {"NotCaptured",
       [](auto&, auto& n) { change_body(n, [](Network& b) { b.captures = {"scores"}; }); },
       "reads 'bounds'"},
      {"CapturesNothing",
       [](auto&, auto& n) {
         change_body(n, [](Network& b) { b.captures = {"bounds", "none", "scores"}; });
       },
       "captures 'none'"},
      {"CapturesWhatIsMadeLater",
       [](auto&, auto& n) {
         change_body(n, [](Network& b) { b.captures = {"bounds", "scores", "y"}; });
       },
       "captures 'y'"},
      {"CapturesUnordered",
       [](auto&, auto& n) {
         change_body(n, [](Network& b) { b.captures = {"scores", "bounds"}; });
       },
       "ascending"},
      {"OtherOpset", [](auto&, auto& n) { change_body(n, [](Network& b) { b.opsets[""] = 11; }); },
       "those of the model"},
      {"NestedTooDeep",
       [](auto&, auto& n) {
         n.nodes[0].attributes[6].value = std::make_shared<const Network>(nested(17));
       },
       "nest deeper"},
  };
}

std::vector<HostileCase> dynamic_boundary_cases() {
  constexpr uint32_t kOpen = kOpenDimension;
  const auto reshape = [](Boundary& boundary, std::vector<uint32_t> shape) {
    boundary.cpu = tensor::make_cpu_desc(boundary.cpu.name, boundary.cpu.type, std::move(shape));
  };
  return {
      {"InputMissing", [](auto& m, auto&) { m.inputs.pop_back(); }, "2 inputs"},
      {"OtherName", [](auto& m, auto&) { m.inputs[0].cpu.name = "other"; }, "'image' there"},
      {"NamedTwice", [](auto& m, auto& n) { m.outputs[1].cpu.name = n.outputs[1].name = "y"; },
       "two outputs"},
      {"OtherType", [](auto& m, auto&) { m.inputs[2].cpu.type = tensor::DataType::kInt8; },
       "declares"},
      {"OtherDimension",
       [=](auto& m, auto&) {
         reshape(m.inputs[0], {1, 4, kOpen, 64});
       },
       "its shape"},
      {"OtherRank",
       [=](auto& m, auto&) {
         reshape(m.inputs[0], {1, 3, kOpen});
       },
       "its shape"},
      {"OpenButDeclared",
       [=](auto& m, auto&) {
         reshape(m.inputs[0], {kOpen, 3, kOpen, 64});
       },
       "its shape"},
      {"AnyRankButDeclared", [=](auto& m, auto&) { m.inputs[2].open = true; }, "its shape"},
      {"OpenButNotSo", [](auto& m, auto&) { m.inputs[0].open = false; }, "not marked as open"},
      {"NotOpenButSo", [](auto& m, auto&) { m.outputs[1].open = true; }, "none of its dimensions"},
      {"HwView", [](auto& m, auto&) { m.outputs[1].hw = m.outputs[1].cpu; }, "HW view"},
      {"RequantisedHwView", [](auto& m, auto&) { m.outputs[1].requantised = true; }, "HW view"},
      {"ValueOfNoGraph", [](auto& m, auto&) { m.outputs[1].value = 0; }, "value of a graph"},
      {"OrderOther", [](auto& m, auto&) { m.outputs[1].cpu.order = {1}; }, "CPU view"},
      {"SizeOverflows",
       [=](auto& m, auto&) {
         reshape(m.outputs[0], {kOpen, 0xfffffff0u, 0xfffffff0u, 0xfffffff0u});
       },
       "elements"},
      {"ScaleZero", [](auto& m, auto&) { m.inputs[0].quant.scale = 0; }, "scale"},
      {"AGraphToo",
       [](auto& m, auto&) {
         m.graph.values.push_back({"v", tensor::DataType::kFloat32, {1}, {}});
       },
       "a network and a graph"},
      {"APlanToo", [](auto& m, auto&) { m.arena_bytes = 64; }, "a network and a graph"},
  };
}

std::vector<HostileCase> profile_cases() {
  return {
      {"NoName", [](auto& m, auto&) { m.profiles[0].name = ""; }, "no name"},
      {"NamedTwice", [](auto& m, auto&) { m.profiles[1].name = "small"; }, "two profiles"},
      {"ShapeMissing", [](auto& m, auto&) { m.profiles[0].shapes.pop_back(); }, "2 shapes"},
      {"OtherDimension", [](auto& m, auto&) { m.profiles[0].shapes[0][1] = 4; }, "[1,4,32,64]"},
      {"StillOpen", [](auto& m, auto&) { m.profiles[0].shapes[0][2] = kOpenDimension; }, "'image'"},
      {"RankHuge", [](auto& m, auto&) { m.profiles[0].shapes[1].resize(9, 1); }, "'anything'"},
  };
}

class HostileNetwork : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileNetwork, IsRefusedWithTheReason) {
  CompiledModel model = test::dynamic_model();
  Network network = test::dynamic_network();
  GetParam().change(model, network);
  model.network = std::make_shared<const Network>(std::move(network));
  const Status status = round_trip(model).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().reason));
}

const auto kCaseName = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Network, HostileNetwork, ::testing::ValuesIn(network_cases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Subgraphs, HostileNetwork, ::testing::ValuesIn(subgraph_cases()),
                         kCaseName);
INSTANTIATE_TEST_SUITE_P(Boundaries, HostileNetwork, ::testing::ValuesIn(dynamic_boundary_cases()),
                         kCaseName);

INSTANTIATE_TEST_SUITE_P(Profiles, HostileNetwork, ::testing::ValuesIn(profile_cases()), kCaseName);

TEST(NetworkCheck, SubgraphsNestAsDeepAsTheLimitInAnArchive) {
  CompiledModel model = test::dynamic_model();
  Network network = nested(network::kMaxSubgraphDepth);
  model.inputs.clear();
  model.outputs.clear();
  model.profiles.clear();
  model.network = std::make_shared<const Network>(std::move(network));
  const auto decoded = round_trip(model);
  EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
}

TEST(NetworkCheck, ASubgraphMayGiveItsOwnValueTheNameOfAnOuterOne) {
  Network network = test::dynamic_network();
  change_body(network, [](Network& body) { body.inputs[0].name = "image"; });
  EXPECT_TRUE(network::check(network).ok());
}

TEST(HostileStatic, AnOpenBoundaryOfAGraphIsRefused) {
  CompiledModel model;
  model.graph.values = {{"x", tensor::DataType::kFloat32, {2}, {}},
                        {"y", tensor::DataType::kFloat32, {2}, {}}};
  model.graph.nodes = {{"n", Unary{{UnaryKind::kRelu, 0, 0}}, {0}, {1}}};
  model.graph.inputs = {0};
  model.graph.outputs = {1};
  model.partitions = {{PartitionKind::kCpu, 0, 1}};
  for (const ValueId id : {0u, 1u}) {
    Boundary boundary;
    boundary.value = id;
    boundary.cpu =
        tensor::make_cpu_desc(model.graph.values[id].name, tensor::DataType::kFloat32, {2});
    (id == 0 ? model.inputs : model.outputs).push_back(boundary);
  }
  ASSERT_TRUE(round_trip(model).ok());
  model.inputs[0].open = true;
  EXPECT_THAT(round_trip(model).status().message(), HasSubstr("it is open"));
}

}  // namespace
}  // namespace millrace::graph
