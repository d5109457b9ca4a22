#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr const char* kTranspose = "Transpose";

// Images whose channels come last in between, as TensorFlow exports them.
class SinkTransposes : public ::testing::Test {
 protected:
  Graph sunk(ValueId y) {
    maker.output(y);
    return run_pass(simplify_data_movement, run_pass(sink_transposes, maker.graph));
  }
  ValueId last(ValueId x) { return maker.add(graph::Transpose{{0, 2, 3, 1}}, {x}); }
  ValueId first(ValueId x) { return maker.add(graph::Transpose{{0, 3, 1, 2}}, {x}); }
  ValueId relu(ValueId x) { return maker.unary(UnaryKind::kRelu, x); }
  ValueId add(ValueId a, ValueId b) { return maker.binary(BinaryKind::kAdd, a, b); }

  GraphMaker maker;
  ValueId image = maker.input({2, 3, 4, 5});
};

TEST_F(SinkTransposes, MeetTheirInverseBehindFunctionsAndConstants) {
  const ValueId biased = add(last(image), maker.random({3}));
  const ValueId scaled = maker.binary(BinaryKind::kMul, maker.random({4, 1, 1}), relu(biased));
  EXPECT_THAT(operators_of(sunk(relu(first(scaled)))), ElementsAre("Add", "Relu", "Mul", "Relu"));
}

TEST_F(SinkTransposes, MeetEachOtherInAResidualBlock) {
  const ValueId x = relu(last(image));
  const ValueId inner = last(relu(first(x)));
  EXPECT_THAT(operators_of(sunk(first(relu(add(x, inner))))), Not(Contains(kTranspose)));
}

TEST_F(SinkTransposes, OfAllThatIsJoinedOneIsLeft) {
  const ValueId other = maker.input({2, 7, 4, 5});
  const ValueId joined = maker.add(graph::Concat{3}, {last(image), last(other)});
  const Graph after = sunk(joined);
  EXPECT_THAT(operators_of(after), ElementsAre("Concat", kTranspose));
  EXPECT_EQ(std::get<graph::Concat>(after.nodes[0].op).axis, 1);
}

TEST_F(SinkTransposes, PassWhatNamesItsDimensions) {
  ValueId y =
      maker.add(graph::Pad{graph::PadMode::kReflect, {0, 1, 2, 0}, {0, 0, 3, 0}}, {last(image)});
  y = maker.add(graph::Slice{{0, 1, 0, 0}, {2, 2, 5, 2}, {1, 2, 2, 1}}, {y});
  y = maker.add(graph::Softmax{3, false}, {y});
  y = maker.add(graph::Reduce{graph::ReduceKind::kMean, {1, 3}, true}, {y});
  EXPECT_THAT(operators_of(sunk(first(y))), ElementsAre("Pad", "Slice", "Softmax", "Reduce"));
}

TEST_F(SinkTransposes, OneThatUndoesAnotherMayBeReadBesideIt) {
  const auto turned = [&](ValueId x) { return maker.add(graph::Transpose{{1, 0}}, {x}); };
  const ValueId x = relu(turned(maker.input({3, 3})));
  EXPECT_THAT(operators_of(sunk(add(x, turned(x)))),
              ElementsAre(kTranspose, "Relu", kTranspose, "Add"));
}

TEST_F(SinkTransposes, AReduceNamesItsDimensionsOtherwise) {
  const ValueId mean =
      maker.add(graph::Reduce{graph::ReduceKind::kMean, {1, 2}, false}, {relu(last(image))});
  EXPECT_THAT(operators_of(sunk(mean)), ElementsAre("Relu", "Reduce"));
}

TEST_F(SinkTransposes, AreLeftBehindAReduceThatMakesLessOfThem) {
  const ValueId most = maker.add(graph::Reduce{graph::ReduceKind::kMax, {1}, true}, {last(image)});
  EXPECT_THAT(operators_of(sunk(most)), ElementsAre("Reduce", kTranspose));
}

TEST_F(SinkTransposes, StayWhereNothingIsSaved) {
  EXPECT_THAT(operators_of(sunk(relu(last(image)))), ElementsAre(kTranspose, "Relu"));
}

TEST_F(SinkTransposes, StayWhereMoreWouldHaveToBeTransposed) {
  const ValueId x = last(image);
  maker.output(add(x, maker.random({3})));
  maker.output(maker.unary(UnaryKind::kSigmoid, x));
  EXPECT_THAT(operators_of(sunk(first(relu(x)))),
              ElementsAre(kTranspose, "Add", "Sigmoid", "Relu", kTranspose));
}

TEST_F(SinkTransposes, StayBesideOperandsInAnotherOrder) {
  const ValueId sum = add(last(image), maker.input({2, 4, 5, 3}));
  EXPECT_THAT(operators_of(sunk(first(sum))), ElementsAre(kTranspose, "Add", kTranspose));
  const ValueId map = add(last(image), maker.random({4, 5, 1}));
  EXPECT_THAT(operators_of(sunk(first(map))), Contains(kTranspose));
}

TEST_F(SinkTransposes, WhatOthersReadKeepsItsOrder) {
  const ValueId x = relu(last(image));
  maker.output(x);
  const Graph after = sunk(first(x));
  EXPECT_EQ(after.values[after.outputs[0]].shape, (Dims{2, 4, 5, 3}));
}

}  // namespace
}  // namespace millrace::lowering
