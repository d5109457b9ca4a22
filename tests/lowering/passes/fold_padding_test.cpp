#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

graph::Pad zero_pad(Dims begin, Dims end, float value = 0) {
  return {graph::PadMode::kConstant, std::move(begin), std::move(end), value};
}

class FoldPadding : public ::testing::Test {
 protected:
  ValueId pool(ValueId from, graph::Pool op) { return maker.add(std::move(op), {from}); }

  GraphMaker maker;
  ValueId x = maker.input({1, 2, 6, 6});
  ValueId padded = maker.add(zero_pad({0, 0, 1, 0}, {0, 0, 2, 1}), {x});
  graph::Pool average{
      graph::PoolKind::kAverage, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, false};
};

TEST_F(FoldPadding, IntoAConv) {
  maker.output(maker.conv(padded, 4, 3));
  const Graph after = run_pass(fold_padding, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv"));
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).pads_begin, (Dims{2, 1}));
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).pads_end, (Dims{3, 2}));
}

TEST_F(FoldPadding, IntoEachOfSeveralReaders) {
  maker.output(maker.conv(padded, 4, 3));
  maker.output(maker.conv(padded, 4, 1));
  EXPECT_THAT(operators_of(run_pass(fold_padding, maker.graph)), ElementsAre("Conv", "Conv"));
}

TEST_F(FoldPadding, ZerosCountInTheMean) {
  maker.output(pool(padded, average));
  const Graph after = run_pass(fold_padding, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Pool"));
  EXPECT_TRUE(std::get<graph::Pool>(after.nodes[0].op).count_include_pad);
}

TEST_F(FoldPadding, CeilModeStaysUncounted) {
  average.pads_end = average.ceil_excess = {1, 1};
  maker.output(pool(padded, average));
  EXPECT_THAT(operators_of(run_pass(fold_padding, maker.graph)), ElementsAre("Pool"));
}

TEST_F(FoldPadding, NotWherePaddingOfTwoKindsWouldMix) {
  average.pads_begin = {1, 1};
  maker.output(pool(padded, average));
  EXPECT_THAT(operators_of(run_pass(fold_padding, maker.graph)), ElementsAre("Pad", "Pool"));
}

TEST_F(FoldPadding, NotIntoAMaximum) {
  average.kind = graph::PoolKind::kMax;
  maker.output(pool(padded, average));
  EXPECT_THAT(operators_of(run_pass(fold_padding, maker.graph)), ElementsAre("Pad", "Pool"));
}

TEST_F(FoldPadding, OnlyZerosAroundSpatialDimensions) {
  maker.output(maker.conv(maker.add(zero_pad({0, 0, 1, 1}, {0, 0, 1, 1}, 2), {x}), 2, 3));
  maker.output(maker.conv(maker.add(zero_pad({0, 1, 0, 0}, {0, 0, 0, 0}), {x}), 2, 3));
  maker.output(maker.conv(maker.add(zero_pad({0, 0, -1, 0}, {0, 0, 0, 0}), {x}), 2, 3));
  EXPECT_THAT(operators_of(run_pass(fold_padding, maker.graph)),
              ElementsAre("Pad", "Conv", "Pad", "Conv", "Pad", "Conv"));
}

}  // namespace
}  // namespace millrace::lowering
