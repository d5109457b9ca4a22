#include "quantise/mix_precisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "quantise/rewrite/full_precision.h"
#include "small_network.h"

namespace millrace::quantise {
namespace {

using graph::Precision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MixOptions options(double target) {
  MixOptions options;
  options.max_error = target;
  options.finish = [](graph::Graph graph) {
    lowering::LoweringOptions lowering;
    lowering.capabilities = device::cpu::capabilities();
    lowering.precision = Precision::kBf16;
    return lowering::finish(std::move(graph), lowering, "mixed");
  };
  return options;
}

// Names of the layers that are kept.
std::vector<std::string> kept_layers(const QuantisedModel& made) {
  std::vector<std::string> kept;
  for (const LayerAccount& layer : made.layers)
    if (layer.kept_in == Precision::kFp32) kept.push_back(layer.name);
  return kept;
}

// Names of the nodes of the program that compute in FP32.
std::vector<std::string> fp32_nodes(const QuantisedModel& made) {
  std::vector<std::string> nodes;
  for (const graph::Node& node : made.model.graph.nodes)
    if (node.precision == Precision::kFp32) nodes.push_back(node.name);
  return nodes;
}

class MixPrecisions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!computes_in_bf16()) GTEST_SKIP() << "this processor has no BF16";
  }
};

TEST_F(MixPrecisions, AModelThatLosesLittleIsAllBf16) {
  const auto model = finish(small_graph());
  const auto made = mix_precisions(*model, random_samples(4), options(0.01));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->model.precision, Precision::kBf16);
  EXPECT_THAT(kept_layers(*made), IsEmpty());
  EXPECT_TRUE(made->target_holds);
  EXPECT_FALSE(made->ms_without_kept.has_value());
  EXPECT_GT(made->outputs.error(), 0) << "it was measured in BF16";
  ASSERT_EQ(made->layers.size(), 3U);
  EXPECT_TRUE(std::isnan(made->layers[0].snr_db)) << "there was nothing to search for";
  EXPECT_GT(made->layers[2].cosine.value_or(0), 0.999);
}

TEST_F(MixPrecisions, TheLayersThatLoseMostStayFp32UntilTheTargetHolds) {
  const auto model = finish(cancelling_graph());
  const auto samples = random_samples(4);
  const auto plain = mix_precisions(*model, samples, options(0.99));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_GT(plain->outputs.error(), 0.05) << "BF16 alone is no use";
  const auto made = mix_precisions(*model, samples, options(0.01));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->target_holds);
  EXPECT_LE(made->outputs.error(), 0.01);
  EXPECT_THAT(kept_layers(*made), ElementsAre("left", "right", "difference"));
  EXPECT_THAT(fp32_nodes(*made), ElementsAre("left", "right", "difference"));
  EXPECT_TRUE(made->ms_without_kept.has_value());
  for (const LayerAccount& layer : made->layers)
    EXPECT_EQ(layer.snr_db < 20, layer.name != "last") << layer.name << layer.snr_db;
}

TEST_F(MixPrecisions, NamedNodesComputeInFp32AndAreNoLayers) {
  const auto model = finish(cancelling_graph());
  MixOptions chosen = options(0.01);
  chosen.fp32_names = {"left"};
  const auto made = mix_precisions(*model, random_samples(4), chosen);
  ASSERT_TRUE(made.ok()) << made.status().message();
  for (const LayerAccount& layer : made->layers) EXPECT_NE(layer.name, "left");
  EXPECT_THAT(kept_layers(*made), ElementsAre("right", "difference"));
  EXPECT_THAT(fp32_nodes(*made), ElementsAre("left", "right", "difference"));
}

TEST_F(MixPrecisions, AnyTargetHoldsSinceAllLayersMayStayFp32) {
  const auto model = finish(cancelling_graph());
  const auto made = mix_precisions(*model, random_samples(2), options(1e-12));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->target_holds);
  EXPECT_EQ(kept_layers(*made).size(), 4U);
}

TEST(MixPrecisionsOfNames, NamesThatMatchNothingAreRefused) {
  const auto model = finish(small_graph());
  MixOptions chosen = options(0.01);
  chosen.fp32_names = {"thrid"};
  const Status status = mix_precisions(*model, random_samples(2), chosen).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'thrid' to compute in FP32"));
}

TEST(MixPrecisionsOfSamples, NoneAndWrongOnesAreRefused) {
  const auto model = finish(small_graph());
  EXPECT_EQ(mix_precisions(*model, {}, options(0.01)).status().code(),
            StatusCode::kInvalidArgument);
  auto samples = random_samples(2);
  samples[1] = sample_of("bad one", std::vector<float>(192, std::nanf("")));
  const Status status = mix_precisions(*model, samples, options(0.01)).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("bad one"));
}

// A move in BF16 would round the numbers.
TEST(WithFullPrecision, WhatMovesNumbersOfTheNodesIsOfFullPrecision) {
  graph::Graph graph;
  const auto value = [&](const std::string& name) {
    return graph.add_value({name, tensor::DataType::kFloat32, {4}, std::nullopt});
  };
  const auto add = [&](const std::string& name, graph::Operator op, graph::ValueId x) {
    const graph::ValueId y = value(name + "_y");
    graph.nodes.push_back({name, std::move(op), {x}, {y}});
    return y;
  };
  graph.inputs = {value("x")};
  graph::ValueId y = add("before", graph::Reshape{}, graph.inputs[0]);
  y = add("exact", graph::Softmax{}, y);
  y = add("after", graph::Reshape{}, y);
  y = add("other", graph::Softmax{}, y);
  graph.outputs = {add("last", graph::Reshape{}, y)};
  const graph::Graph marked = with_full_precision(graph, {false, true, false, false, false});
  std::vector<std::string> names;
  for (const graph::Node& node : marked.nodes)
    if (node.precision) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("before", "exact", "after"));
}

}  // namespace
}  // namespace millrace::quantise
