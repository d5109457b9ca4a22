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

// One block of attention whose new keys and values are written to buffers, as the compiler makes it
// of GroupQueryAttention. The length of the sequence and the buffers are inputs.
Graph attention_to_buffers(int64_t key_heads, bool has_sinks) {
  constexpr int64_t kWidth = 16, kHeads = 4, kSize = 4, kTokens = 3, kRoom = 7;
  ModelBuilder b;
  const auto x = b.input({1, kTokens, kWidth});
  const auto past_keys = b.input({1, key_heads, kRoom, kSize});
  const auto past_values = b.input({1, key_heads, kRoom, kSize});
  const auto used = b.input({1}, tensor::DataType::kInt64);
  const auto projected = [&](int64_t heads, uint32_t seed) {
    const auto y =
        b.node(graph::MatMul{}, {x, b.constant(Tensor::numbers({kWidth, heads * kSize}, seed))});
    const auto apart = b.node(graph::Reshape{{1, kTokens, heads, kSize}}, {y});
    return b.node(graph::Transpose{{0, 2, 1, 3}}, {apart});
  };
  const auto written = [&](graph::ValueId past, uint32_t seed) {
    return b.fallback({"TensorScatter", {{"axis", int64_t{2}}}},
                      {past, projected(key_heads, seed), used})[0];
  };
  const auto lengths = b.fallback(
      {"Add", {}}, {used, b.integers<int64_t>({1}, tensor::DataType::kInt64, {kTokens})})[0];
  std::vector<graph::ValueId> operands = {projected(kHeads, 1), written(past_keys, 2),
                                          written(past_values, 3), lengths};
  if (has_sinks) operands.push_back(b.constant(Tensor::numbers({kHeads}, 4)));
  const auto y = b.fallback({"millrace.CachedAttention", {{"scale", 0.5f}}}, operands)[0];
  const auto joined = b.node(graph::Reshape{{1, kTokens, kHeads * kSize}},
                             {b.node(graph::Transpose{{0, 2, 1, 3}}, {y})});
  b.output(
      b.node(graph::MatMul{}, {joined, b.constant(Tensor::numbers({kHeads * kSize, kWidth}, 5))}));
  return b.build()->graph;
}

// Every rank keeps whole buffers. With two heads of keys it reads its own half of them, and with
// one all.
TEST_F(Shard, AttentionToBuffersIsDividedByHeads) {
  Tensor used = Tensor::zeros({1});
  used.data[0] = 2;
  for (const int64_t key_heads : {1, 2})
    for (const bool has_sinks : {false, true}) {
      const Graph graph = attention_to_buffers(key_heads, has_sinks);
      const SplitPlan plan = compiler::plan_split(graph, 2).value();
      EXPECT_THAT(plan.divided, SizeIs(2)) << "the projections of queries and of the result";
      EXPECT_THAT(plan.whole, SizeIs(2));
      expect_same_on_ranks(
          graph, 2,
          {Tensor::numbers({1, 3, 16}, 6), Tensor::numbers({1, key_heads, 7, 4}, 7),
           Tensor::numbers({1, key_heads, 7, 4}, 8), used});
    }
  EXPECT_THAT(compiler::plan_split(attention_to_buffers(4, true), 4).value().divided, SizeIs(2));
  EXPECT_THAT(compiler::plan_split(attention_to_buffers(2, true), 4).value().whole,
              Contains(HasSubstr("(millrace.CachedAttention) needs the whole")));
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
