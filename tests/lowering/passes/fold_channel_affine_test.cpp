#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

class FoldChannelAffine : public ::testing::Test {
 protected:
  GraphMaker maker;
  ValueId x = maker.input({1, 3, 5, 5});
};

TEST_F(FoldChannelAffine, ScaleAndShiftAfterAConv) {
  ValueId y = maker.conv(x, 4, 3);
  y = maker.binary(BinaryKind::kMul, y, maker.random({1, 4, 1, 1}));
  maker.output(maker.binary(BinaryKind::kAdd, maker.random({4, 1, 1}), y));
  const Graph after = run_pass(fold_channel_affine, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Conv"));
  EXPECT_EQ(after.nodes[0].inputs.size(), 3u);
}

TEST_F(FoldChannelAffine, AnyArithmeticThatIsAffine) {
  ValueId y = maker.conv(x, 4, 3);
  y = maker.binary(BinaryKind::kSub, y, maker.random({4, 1, 1}));
  y = maker.binary(BinaryKind::kDiv, y, maker.random_positive({4, 1, 1}));
  y = maker.binary(BinaryKind::kSub, maker.random({4, 1, 1}), y);
  maker.output(maker.unary(UnaryKind::kLinear, y, 2, -0.5f));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)), ElementsAre("Conv"));
}

TEST_F(FoldChannelAffine, IntoGroupsAndAnExistingBias) {
  const Conv depthwise{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 3, {}};
  const ValueId y = maker.add(depthwise, {x, maker.random({6, 1, 3, 3}), maker.random({6})});
  maker.output(maker.binary(BinaryKind::kMul, y, maker.random({6, 1, 1})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)), ElementsAre("Conv"));
}

// A model's weights must never be in memory twice.
TEST_F(FoldChannelAffine, ElementsThatNothingReadsAreGivenUp) {
  const ValueId weight = maker.random({4, 3, 1, 1});
  const Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
  maker.output(
      maker.binary(BinaryKind::kMul, maker.add(conv, {x, weight}), maker.random({4, 1, 1})));
  ASSERT_TRUE(fold_channel_affine(maker.graph, {}).ok());
  EXPECT_FALSE(maker.graph.values[weight].constant);
}

TEST_F(FoldChannelAffine, ASharedWeightIsScaledForOneReaderOnly) {
  const ValueId weight = maker.random({3, 3, 1, 1});
  const Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
  const ValueId first = maker.add(conv, {x, weight}), second = maker.add(conv, {x, weight});
  maker.output(maker.binary(BinaryKind::kMul, first, maker.random({3, 1, 1})));
  maker.output(second);
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)),
              ElementsAre("Conv", "Conv"));
}

// A window does not fit into what has no elements, which an affine function takes.
TEST_F(FoldChannelAffine, NotOfTensorsWithoutElements) {
  const ValueId empty = maker.input({1, 3, 5, 0});
  maker.output(maker.binary(BinaryKind::kMul, empty, maker.random({3, 1, 1})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)), ElementsAre("Mul"));
}

TEST_F(FoldChannelAffine, NotWhereTheConvHasAnotherReader) {
  const ValueId y = maker.conv(x, 4);
  maker.output(maker.binary(BinaryKind::kMul, y, maker.random({4, 1, 1})));
  maker.output(maker.unary(UnaryKind::kAbs, y));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)),
              ElementsAre("Conv", "Conv", "Abs"));
}

TEST_F(FoldChannelAffine, NotWhereTheConstantVariesInSpace) {
  maker.output(maker.binary(BinaryKind::kAdd, maker.conv(x, 4), maker.random({5, 5})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)), ElementsAre("Conv", "Add"));
}

TEST_F(FoldChannelAffine, NotByZero) {
  const ValueId zeros = maker.constant({3, 1, 1}, {1, 0, 1});
  const ValueId y = maker.binary(BinaryKind::kDiv, maker.conv(x, 3), zeros);
  maker.output(y);
  Graph graph = maker.graph;
  ASSERT_TRUE(fold_channel_affine(graph, {}).ok());
  EXPECT_THAT(operators_of(graph), ElementsAre("Conv", "Div"));
}

TEST_F(FoldChannelAffine, NotBehindAnActivation) {
  const ValueId y = maker.conv(x, 4);
  std::get<Conv>(maker.graph.nodes[0].op).activation.kind = UnaryKind::kRelu;
  maker.output(maker.binary(BinaryKind::kMul, y, maker.random({4, 1, 1})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)),
              ElementsAre("Conv", "Conv"));
}

TEST_F(FoldChannelAffine, ScaleAndShiftThatStandAloneAreADepthwiseConv) {
  ValueId y = maker.unary(UnaryKind::kRelu, x);
  y = maker.binary(BinaryKind::kMul, y, maker.random({1, 3, 1, 1}));
  y = maker.binary(BinaryKind::kAdd, y, maker.random({1, 3, 1, 1}));
  y = maker.binary(BinaryKind::kMul, y, maker.random({3, 1, 1}));
  maker.output(y);
  const Graph after = run_pass(fold_channel_affine, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Relu", "Conv"));
  EXPECT_EQ(std::get<Conv>(after.nodes[1].op).group, 3);
}

TEST_F(FoldChannelAffine, ANumberOrAPositionIsNoDepthwiseConv) {
  const ValueId tokens = maker.input({1, 7, 5});
  maker.output(maker.binary(BinaryKind::kAdd, tokens, maker.random({7, 1})));
  maker.output(maker.unary(UnaryKind::kLinear, x, 2, 3));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)),
              ElementsAre("Add", "Linear"));
}

TEST_F(FoldChannelAffine, BiasAndScaleOfAMatMul) {
  ValueId y = maker.add(MatMul{}, {maker.input({2, 6}), maker.random({6, 4})});
  y = maker.binary(BinaryKind::kAdd, y, maker.random({4}));
  y = maker.binary(BinaryKind::kMul, y, maker.random({1, 4}));
  maker.output(maker.binary(BinaryKind::kAdd, y, maker.random({1, 1})));
  const Graph after = run_pass(fold_channel_affine, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("MatMul"));
  EXPECT_EQ(after.values[after.nodes[0].inputs[2]].shape, (Dims{4}));
}

TEST_F(FoldChannelAffine, ScaleOfATransposedMatMul) {
  MatMul op;
  op.transpose_b = true;
  op.alpha = 0.5f;
  const ValueId y =
      maker.add(op, {maker.input({2, 6}), maker.random({4, 6}), maker.random({1, 4})});
  maker.output(maker.binary(BinaryKind::kMul, y, maker.random({4})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)), ElementsAre("MatMul"));
}

TEST_F(FoldChannelAffine, ANumberGoesIntoAlphaOfAMatMulWithoutConstants) {
  const ValueId y = maker.add(MatMul{}, {maker.input({2, 6}), maker.input({6, 4})});
  maker.output(maker.unary(UnaryKind::kLinear, y, 0.125f, 0));
  const Graph after = run_pass(fold_channel_affine, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("MatMul"));
  EXPECT_EQ(std::get<MatMul>(after.nodes[0].op).alpha, 0.125f);
}

TEST_F(FoldChannelAffine, ABiasPerRowStaysAnAdd) {
  const ValueId y = maker.add(MatMul{}, {maker.input({2, 6}), maker.random({6, 4})});
  maker.output(maker.binary(BinaryKind::kAdd, y, maker.random({2, 1})));
  EXPECT_THAT(operators_of(run_pass(fold_channel_affine, maker.graph)),
              ElementsAre("MatMul", "Add"));
}

}  // namespace
}  // namespace millrace::lowering
