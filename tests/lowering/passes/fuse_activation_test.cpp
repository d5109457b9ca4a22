#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

class FuseActivation : public ::testing::Test {
 protected:
  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

class FusableFunctions : public ::testing::TestWithParam<Activation> {};

TEST_P(FusableFunctions, GoIntoTheConvAndTheMatMul) {
  GraphMaker maker;
  const Activation f = GetParam();
  const ValueId y = maker.conv(maker.input({1, 3, 4, 4}), 4);
  maker.output(maker.unary(f.kind, y, f.alpha, f.beta));
  const ValueId z = maker.add(MatMul{}, {maker.input({2, 3}), maker.random({3, 4})});
  maker.output(maker.unary(f.kind, z, f.alpha, f.beta));
  const Graph after = run_pass(fuse_activation, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv", "MatMul"));
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).activation, f);
  EXPECT_EQ(std::get<MatMul>(after.nodes[1].op).activation, f);
}

INSTANTIATE_TEST_SUITE_P(
    All, FusableFunctions,
    ::testing::Values(Activation{UnaryKind::kRelu, 0, 0}, Activation{UnaryKind::kClip, 0, 6},
                      Activation{UnaryKind::kLeakyRelu, 0.1f, 0}, Activation{UnaryKind::kElu, 1, 0},
                      Activation{UnaryKind::kSigmoid, 0, 0}, Activation{UnaryKind::kTanh, 0, 0},
                      Activation{UnaryKind::kHardSigmoid, 0.2f, 0.5f},
                      Activation{UnaryKind::kHardSwish, 0, 0}, Activation{UnaryKind::kSwish, 0, 0},
                      Activation{UnaryKind::kGelu, 0, 0}));

TEST_F(FuseActivation, AfterTheResidual) {
  const ValueId sum = maker.binary(BinaryKind::kAdd, maker.conv(x, 3), x);
  maker.output(maker.unary(UnaryKind::kRelu, sum));
  const Graph fused = run_pass(fuse_residual_add, maker.graph);
  const Graph after = run_pass(fuse_activation, fused);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv"));
  EXPECT_NE(after.nodes[0].input(3), kNoValue);
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).activation.kind, UnaryKind::kRelu);
}

TEST_F(FuseActivation, OnlyTheFirstOfTwo) {
  maker.output(maker.unary(UnaryKind::kTanh, maker.unary(UnaryKind::kRelu, maker.conv(x, 4))));
  EXPECT_THAT(operators_of(run_pass(fuse_activation, maker.graph)), ElementsAre("Conv", "Tanh"));
}

TEST_F(FuseActivation, NotWhereTheConvHasAnotherReader) {
  const ValueId y = maker.conv(x, 4);
  maker.output(maker.unary(UnaryKind::kRelu, y));
  maker.output(y);
  EXPECT_THAT(operators_of(run_pass(fuse_activation, maker.graph)), ElementsAre("Conv", "Relu"));
}

TEST_F(FuseActivation, NotAFunctionThatDevicesDoNotFuse) {
  maker.output(maker.unary(UnaryKind::kFloor, maker.conv(x, 4)));
  EXPECT_THAT(operators_of(run_pass(fuse_activation, maker.graph)), ElementsAre("Conv", "Floor"));
}

TEST_F(FuseActivation, PreluPerChannelIsTheSlopeOfTheConv) {
  const ValueId slope = maker.random({4, 1, 1});
  maker.output(maker.binary(BinaryKind::kPrelu, maker.conv(x, 4), slope));
  const Graph after = run_pass(fuse_activation, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Conv"));
  EXPECT_EQ(after.values[after.nodes[0].input(4)].shape, (Dims{4}));
}

TEST_F(FuseActivation, NothingBehindASlope) {
  const ValueId y = maker.binary(BinaryKind::kPrelu, maker.conv(x, 4), maker.random({4, 1, 1}));
  maker.output(maker.unary(UnaryKind::kTanh, y));
  EXPECT_THAT(operators_of(run_pass(fuse_activation, maker.graph)), ElementsAre("Conv", "Tanh"));
}

TEST_F(FuseActivation, PreluThatVariesInSpaceStays) {
  maker.output(maker.binary(BinaryKind::kPrelu, maker.conv(x, 4), maker.random({4, 4, 4})));
  EXPECT_THAT(operators_of(run_pass(fuse_activation, maker.graph)), ElementsAre("Conv", "Prelu"));
}

}  // namespace
}  // namespace millrace::lowering
