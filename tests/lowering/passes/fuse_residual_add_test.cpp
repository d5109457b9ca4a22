#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

class FuseResidualAdd : public ::testing::Test {
 protected:
  ValueId add(ValueId a, ValueId b) { return maker.binary(BinaryKind::kAdd, a, b); }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(FuseResidualAdd, IntoTheConv) {
  maker.output(add(maker.conv(x, 3, 3), x));
  const Graph after = run_pass(fuse_residual_add, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv"));
  EXPECT_EQ(after.nodes[0].input(3), after.inputs[0]);
}

TEST_F(FuseResidualAdd, TheConvWaitsForItsResidual) {
  const ValueId sum = maker.conv(x, 3, 3);
  maker.output(add(maker.unary(UnaryKind::kTanh, x), sum));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)), ElementsAre("Tanh", "Conv"));
}

TEST_F(FuseResidualAdd, OfTwoConvsTheLaterAdds) {
  const ValueId first = maker.conv(x, 4), second = maker.conv(x, 4, 3);
  maker.output(add(first, second));
  const Graph after = run_pass(fuse_residual_add, maker.graph);
  ASSERT_EQ(after.nodes.size(), 2u);
  EXPECT_EQ(after.nodes[1].input(3), after.nodes[0].outputs[0]);
  EXPECT_EQ(std::get<Conv>(after.nodes[1].op).pads_begin, (Dims{1, 1}));
}

TEST_F(FuseResidualAdd, AChainOfBlocks) {
  const ValueId first = add(maker.conv(x, 3, 3), x);
  maker.output(add(maker.conv(first, 3, 3), first));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)), ElementsAre("Conv", "Conv"));
}

TEST_F(FuseResidualAdd, ASumOfThree) {
  maker.output(add(add(maker.conv(x, 3), x), maker.conv(x, 3, 3)));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)), ElementsAre("Conv", "Conv"));
}

TEST_F(FuseResidualAdd, AConvHasOneResidual) {
  const ValueId other = maker.unary(UnaryKind::kTanh, x);
  maker.output(add(add(maker.conv(x, 3), x), other));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)),
              ElementsAre("Tanh", "Conv", "Add"));
}

TEST_F(FuseResidualAdd, NotOverAnActivation) {
  const ValueId y = maker.conv(x, 3);
  std::get<Conv>(maker.graph.nodes[0].op).activation.kind = UnaryKind::kRelu;
  maker.output(add(y, x));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)), ElementsAre("Conv", "Add"));
}

TEST_F(FuseResidualAdd, NotWhereTheSumIsReadElsewhere) {
  const ValueId y = maker.conv(x, 3);
  maker.output(add(y, x));
  maker.output(maker.unary(UnaryKind::kRelu, y));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)),
              ElementsAre("Conv", "Add", "Relu"));
}

TEST_F(FuseResidualAdd, NotAConvAddedToItself) {
  const ValueId y = maker.conv(x, 3);
  maker.output(add(y, y));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)), ElementsAre("Conv", "Add"));
}

TEST_F(FuseResidualAdd, NotABroadcastOperand) {
  maker.output(add(maker.conv(x, 3), maker.input({1, 3, 1, 1})));
  maker.output(add(maker.conv(maker.input({1, 3, 1, 1}), 3), x));
  EXPECT_THAT(operators_of(run_pass(fuse_residual_add, maker.graph)),
              ElementsAre("Conv", "Add", "Conv", "Add"));
}

}  // namespace
}  // namespace millrace::lowering
