// Transformers that are divided among ranks: what is divided, and that all ranks together compute
// what one computes.
#include <gmock/gmock.h>

#include <algorithm>

#include "compiler/compiler.h"
#include "compiler/export/onnx_writer.h"
#include "compiler/shard/rank_graph.h"
#include "compiler/shard/separate_products.h"
#include "compiler/shard/split_plan.h"
#include "tests/ranks/models/rank_models.h"
#include "tests/ranks/models/transformer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using compiler::SplitPlan;
using graph::Graph;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

size_t count(const Graph& graph, std::string_view name) {
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes, [&](const graph::Node& node) { return graph::name_of(node.op) == name; }));
}

size_t constant_bytes(const Graph& graph) {
  size_t bytes = 0;
  for (const graph::Value& value : graph.values)
    if (value.constant) bytes += value.bytes();
  return bytes;
}

class Shard : public ::testing::Test {
 protected:
  // The model that a rank loads: its graph, through the file that is written of it.
  std::shared_ptr<const graph::CompiledModel> compiled(const Graph& graph) {
    const Status status = compiler::write_onnx(graph, path_);
    EXPECT_TRUE(status.ok()) << status.to_string();
    auto model = compiler::compile(path_, {});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return std::make_shared<const graph::CompiledModel>(*std::move(model));
  }

  void expect_same_on_ranks(Graph graph, uint32_t ranks, const std::vector<Tensor>& inputs) {
    const Tensor expected =
        device::cpu::run(*device_of_ranks()->load(compiled(graph)).value(), inputs)[0];
    ASSERT_TRUE(compiler::separate_products(graph).ok());
    const auto plan = compiler::plan_split(graph, ranks);
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    const ranks::Group group = ranks::make_group(ranks);
    const Programs programs = load_on_ranks(group, [&](uint32_t rank) {
      return compiled(compiler::make_rank_graph(graph, *plan, rank, ranks).value());
    });
    for (const Tensor& output : run_on_ranks(group, programs, [&](uint32_t) { return inputs; }))
      device::cpu::expect_close(output, expected, 1e-5);
  }

 private:
  const TemporaryDirectory directory_;
  const std::string path_ = directory_.file("model.onnx");
};

const std::vector<Tensor> kTokens = {Tensor::numbers({1, 5, 48}, 99)};

TEST_F(Shard, ATransformerComputesTheSameOnTwoAndFourRanks) {
  for (const uint32_t ranks : {2u, 4u})
    for (const Projections projections :
         {Projections::kApart, Projections::kSliced, Projections::kGathered})
      expect_same_on_ranks(make_transformer({.projections = projections}), ranks, kTokens);
}

// If there are fewer key/value heads than ranks, every rank computes whole heads and reads its part
// of them.
TEST_F(Shard, SharedHeadsOfKeysAndAGateComputeTheSame) {
  for (const Projections projections : {Projections::kApart, Projections::kSliced})
    for (const int64_t kv_heads : {1, 2})
      for (const uint32_t ranks : {2u, 4u}) {
        const Graph graph = make_transformer(
            {.kv_heads = kv_heads, .projections = projections, .is_gated = true, .blocks = 1});
        expect_same_on_ranks(graph, ranks, kTokens);
      }
}

TEST_F(Shard, OneProductOfQueriesKeysAndValuesIsDividedByHeadsHoweverItIsTakenApart) {
  for (const Projections projections : {Projections::kSliced, Projections::kGathered}) {
    Graph graph = make_transformer({.projections = projections});
    ASSERT_TRUE(compiler::separate_products(graph).ok());
    EXPECT_THAT(compiler::plan_split(graph, 4).value().whole, IsEmpty());
  }
}

TEST_F(Shard, AttentionOfACompiledModelIsDividedByHeads) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("whole.onnx");
  const Status written = compiler::write_onnx(make_transformer({}), path);
  ASSERT_TRUE(written.ok()) << written.to_string();
  compiler::CompileOptions options;
  options.attention_in_parts = true;
  const auto model = compiler::compile(path, options);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_THAT(compiler::plan_split(model->graph, 4).value().whole, IsEmpty());
}

TEST_F(Shard, ABlockIsDividedWithOneSumForAttentionAndOneForTheFeedForwardNetwork) {
  const Graph graph = make_transformer({});
  const SplitPlan plan = compiler::plan_split(graph, 4).value();
  EXPECT_THAT(plan.whole, IsEmpty());
  EXPECT_THAT(plan.divided, SizeIs(2 * 6 + 1));
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const Graph part = compiler::make_rank_graph(graph, plan, rank, 4).value();
    EXPECT_EQ(count(part, "com.microsoft.AllReduce"), 2u * 2);
    EXPECT_EQ(count(part, "com.microsoft.AllGather"), 1u);  // of the output
    // Only biases after a sum, normalisations and the mask are on every rank as a whole.
    EXPECT_LT(constant_bytes(part), constant_bytes(graph) * 3 / 10);
  }
}

TEST_F(Shard, WhatCannotBeDividedIsWholeOnEveryRankAndNamed) {
  const Graph graph = make_transformer({.hidden = 99, .outputs = 41, .blocks = 1});
  const SplitPlan plan = compiler::plan_split(graph, 3).value();
  EXPECT_THAT(plan.divided, SizeIs(2));  // the feed-forward network
  EXPECT_THAT(plan.whole, Contains(HasSubstr("is not a multiple of 3")));
  expect_same_on_ranks(graph, 3, kTokens);
}

TEST_F(Shard, WhereNothingCanBeDividedTheReasonsAreTheError) {
  const Status status = compiler::plan_split(make_transformer({}), 7).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("no product of the model can be divided"));
  EXPECT_THAT(status.message(), HasSubstr("is not a multiple of 7"));

  EXPECT_THAT(compiler::plan_split(Graph(), 2).status().message(),
              HasSubstr("no product with constant weights"));
}

struct RealModel {
  const char* file;
  compiler::InputShapes input_shapes;
};

std::vector<RealModel> real_models() {
  return {
      {"models/reverse_transformer.onnx", {{"input_ids", {1, 10}}, {"attention_mask", {1, 10}}}},
      {"models/tf_cct_opset20.onnx", {}},
      {"models/tf_tinyvit_demo.onnx", {}}};
}

// Integers are token ids and masks: small, and mostly 1.
Tensor input_of(const graph::Boundary& input, uint32_t seed) {
  const graph::Dims dims(input.cpu.shape.begin(), input.cpu.shape.end());
  if (input.cpu.type != tensor::DataType::kInt64) return Tensor::numbers(dims, seed);
  Tensor integers = Tensor::zeros(dims);
  for (size_t i = 0; i < integers.data.size(); ++i) integers.data[i] = i % 5 == 4 ? 0 : 1;
  return integers;
}

TEST_F(Shard, ModelsAsOthersHaveWrittenThemComputeTheSame) {
  for (const RealModel& real : real_models()) {
    const auto path = test_model(real.file);
    if (!path) GTEST_SKIP() << "no test models";
    compiler::CompileOptions options;
    options.input_shapes = real.input_shapes;
    options.attention_in_parts = true;
    const auto model = compiler::compile(*path, options);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    std::vector<Tensor> inputs;
    for (const graph::Boundary& input : model->inputs)
      inputs.push_back(input_of(input, static_cast<uint32_t>(inputs.size())));
    for (const uint32_t ranks : {2u, 4u}) {
      SCOPED_TRACE(real.file);
      expect_same_on_ranks(model->graph, ranks, inputs);
    }
  }
}

}  // namespace
}  // namespace millrace::test
