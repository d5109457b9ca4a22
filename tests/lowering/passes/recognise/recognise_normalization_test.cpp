#include "fallback/operator_table.h"
#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Each test writes a normalisation as exporters do.
class RecogniseNormalization : public ::testing::Test {
 protected:
  Graph recognised(ValueId y) {
    maker.output(y);
    return run_pass(recognise_normalization, run_pass(canonicalise_arithmetic, maker.graph));
  }
  ValueId mean(ValueId v, Dims axes = {2}) {
    return maker.add(graph::Reduce{graph::ReduceKind::kMean, std::move(axes), true}, {v});
  }
  ValueId add(ValueId a, ValueId b) { return maker.binary(BinaryKind::kAdd, a, b); }
  ValueId sub(ValueId a, ValueId b) { return maker.binary(BinaryKind::kSub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return maker.binary(BinaryKind::kMul, a, b); }
  ValueId div(ValueId a, ValueId b) { return maker.binary(BinaryKind::kDiv, a, b); }
  ValueId squared(ValueId v) { return maker.binary(BinaryKind::kPow, v, maker.number(2)); }
  // sqrt(mean(square of v) + epsilon)
  ValueId deviation(ValueId v, float epsilon = 1e-5f, Dims axes = {2}) {
    return maker.unary(UnaryKind::kSqrt,
                       add(mean(squared(v), std::move(axes)), maker.number(epsilon)));
  }
  // The nodes that PyTorch exports before scale and shift.
  ValueId normalised() {
    const ValueId centred = sub(x, mean(x));
    return div(centred, deviation(centred));
  }

  GraphMaker maker;
  ValueId x = maker.input({2, 5, 8});
};

TEST_F(RecogniseNormalization, LayerNormalizationWithScaleAndShift) {
  const Graph after = recognised(add(mul(normalised(), maker.random({8})), maker.random({8})));
  ASSERT_THAT(operators_of(after), ElementsAre("LayerNormalization"));
  const auto& op = std::get<graph::Fallback>(after.nodes[0].op);
  EXPECT_THAT(op.attributes, ElementsAre(graph::Attribute{"axis", int64_t{2}},
                                         graph::Attribute{"epsilon", 1e-5f}));
  EXPECT_EQ(after.nodes[0].inputs.size(), 3u);
}

TEST_F(RecogniseNormalization, OperandsMayStandTheOtherWayRound) {
  const Graph after =
      recognised(add(maker.random({1, 1, 8}), mul(maker.random({8}), normalised())));
  EXPECT_THAT(operators_of(after), ElementsAre("LayerNormalization"));
}

TEST_F(RecogniseNormalization, AScaleOfAHigherRankGivesTheResultItsRank) {
  const Graph after = recognised(mul(normalised(), maker.random({1, 1, 1, 8})));
  EXPECT_THAT(operators_of(after), ElementsAre("LayerNormalization", "Mul"));
}

TEST_F(RecogniseNormalization, ScaleAndShiftMayBeAbsent) {
  EXPECT_THAT(operators_of(recognised(normalised())), ElementsAre("LayerNormalization"));
}

TEST_F(RecogniseNormalization, ASquareMayBeAProductAndADivisionAReciprocal) {
  const ValueId centred = sub(x, mean(x));
  const ValueId variance = add(mean(mul(centred, centred)), maker.number(1e-6f));
  const ValueId inverse = div(maker.number(1), maker.unary(UnaryKind::kSqrt, variance));
  EXPECT_THAT(operators_of(recognised(mul(mul(centred, inverse), maker.random({8})))),
              ElementsAre("LayerNormalization"));
}

TEST_F(RecogniseNormalization, OverSeveralDimensions) {
  const ValueId centred = sub(x, mean(x, {1, 2}));
  const ValueId y = div(centred, deviation(centred, 1e-5f, {1, 2}));
  EXPECT_THAT(operators_of(recognised(mul(y, maker.random({5, 8})))),
              ElementsAre("LayerNormalization"));
}

TEST_F(RecogniseNormalization, WhatOthersReadStays) {
  const ValueId y = normalised();
  maker.output(y);
  const Graph after = recognised(mul(y, maker.random({8})));
  EXPECT_THAT(operators_of(after), ElementsAre("LayerNormalization", "LayerNormalization"));
}

TEST_F(RecogniseNormalization, WithoutAMeanItIsByRootMeanSquare) {
  const auto operators = operators_of(recognised(mul(div(x, deviation(x)), maker.random({8}))));
  const bool there_is_one = fallback::find_operator("RMSNormalization") != nullptr;
  EXPECT_EQ(operators.size() == 1 && operators[0] == "RMSNormalization", there_is_one);
}

TEST_F(RecogniseNormalization, LeavesLookAlikes) {
  const auto expect_left = [&](ValueId y) {
    EXPECT_THAT(operators_of(recognised(y)), Not(Contains("LayerNormalization")));
  };
  const ValueId centred = sub(x, mean(x)), other = sub(maker.input({2, 5, 8}), mean(x));
  expect_left(div(other, deviation(other)));
  expect_left(div(centred, deviation(x)));
  expect_left(div(centred, deviation(centred, 1e-5f, {1})));
  expect_left(div(sub(mean(x), x), deviation(sub(mean(x), x))));
}

TEST_F(RecogniseNormalization, AScalePerOtherDimensionStaysAProduct) {
  EXPECT_THAT(operators_of(recognised(mul(normalised(), maker.random({5, 1})))),
              ElementsAre("LayerNormalization", "Mul"));
}

}  // namespace
}  // namespace millrace::lowering
