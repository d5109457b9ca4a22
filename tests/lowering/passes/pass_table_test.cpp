#include "lowering/passes/pass_table.h"

#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

Graph run_all(const Graph& before, graph::Precision precision = graph::Precision::kFp32) {
  Graph after = before;
  for (const Pass& pass : pass_table()) {
    SCOPED_TRACE(pass.name);
    EXPECT_TRUE(pass.run(after, {precision}).ok());
    EXPECT_TRUE(graph::validate(after).ok()) << graph::validate(after).to_string();
  }
  return after;
}

ValueId batch_norm(GraphMaker& maker, ValueId x) {
  const Dims channels = {maker.graph.values[x].shape[1]};
  const ValueId scale = maker.random(channels), bias = maker.random(channels);
  const ValueId mean = maker.random(channels), variance = maker.random_positive(channels);
  return maker.add(graph::BatchNormalization{}, {x, scale, bias, mean, variance});
}

TEST(PassTable, AResidualBlockIsItsConvs) {
  GraphMaker maker;
  const ValueId x = maker.input({1, 4, 6, 6});
  ValueId y = maker.unary(UnaryKind::kRelu, batch_norm(maker, maker.conv(x, 8, 3)));
  y = batch_norm(maker, maker.conv(y, 8, 3));
  const ValueId shortcut = batch_norm(maker, maker.conv(x, 8));
  maker.output(maker.unary(UnaryKind::kRelu, maker.binary(BinaryKind::kAdd, y, shortcut)));
  const Graph after = run_all(maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Conv", "Conv", "Conv"));
  const auto& last = std::get<Conv>(after.nodes.back().op);
  EXPECT_EQ(last.activation.kind, UnaryKind::kRelu);
  EXPECT_NE(after.nodes.back().input(3), kNoValue);
  EXPECT_EQ(after.values[after.outputs[0]].name, maker.graph.values[maker.graph.outputs[0]].name);
}

TEST(PassTable, ASqueezeAndExciteBlockKeepsItsGate) {
  GraphMaker maker;
  const ValueId x = maker.input({1, 4, 6, 6});
  const ValueId mean = maker.add(graph::Reduce{graph::ReduceKind::kMean, {2, 3}, true}, {x});
  const ValueId gate = maker.unary(UnaryKind::kSigmoid, maker.conv(mean, 4));
  maker.output(maker.binary(BinaryKind::kMul, x, gate));
  EXPECT_THAT(operators_of(run_all(maker.graph)), ElementsAre("GlobalPool", "Conv", "Mul"));
}

TEST(PassTable, AFunctionInPiecesIsTheActivationOfItsConv) {
  GraphMaker maker;
  const ValueId y = maker.conv(maker.input({1, 4, 6, 6}), 8);
  const ValueId swish = maker.binary(BinaryKind::kMul, y, maker.unary(UnaryKind::kSigmoid, y));
  const ValueId moved = maker.add(graph::Transpose{{0, 2, 3, 1}}, {maker.conv(swish, 1)});
  const ValueId flat = maker.add(graph::Reshape{{1, 36}}, {moved});
  maker.output(maker.unary(UnaryKind::kSigmoid, flat));
  const Graph after = run_all(maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv", "Conv", "Reshape"));
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).activation.kind, UnaryKind::kSwish);
  EXPECT_EQ(std::get<Conv>(after.nodes[1].op).activation.kind, UnaryKind::kSigmoid);
}

TEST(PassTable, WeightsOfABf16ProgramAreConvertedAfterFolding) {
  GraphMaker maker;
  const ValueId x = maker.input({1, 4, 6, 6});
  maker.output(batch_norm(maker, maker.conv(x, 8, 3)));
  const Graph after = run_all(maker.graph, graph::Precision::kBf16);
  ASSERT_EQ(after.nodes.size(), 1u);
  EXPECT_EQ(after.values[after.nodes[0].inputs[1]].type, tensor::DataType::kBf16);
}

TEST(PassTable, NamesArePrintable) {
  for (const Pass& pass : pass_table()) {
    EXPECT_THAT(pass.name, ::testing::MatchesRegex("[a-z_]+"));
  }
}

}  // namespace
}  // namespace millrace::lowering
