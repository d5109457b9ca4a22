#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using graph::Quantisation;
using ::testing::ElementsAre;

const Quantisation kHalves{{0.5f}, {128}};
const Quantisation kQuarters{{0.25f}, {100}};

class KeepQuantised : public ::testing::Test {
 protected:
  Graph run() { return run_pass(keep_quantised, maker.graph); }
  ValueId numbers(ValueId id, const Quantisation& form) {
    return maker.dequantise(maker.requantise(id, form));
  }
  ValueId conv(ValueId input) {
    const Quantisation per_channel{{0.1f, 0.2f, 0.3f}, {0, 0, 0}, 0};
    const ValueId weight = maker.dequantise(maker.quantised_constant({3, 3, 1, 1}, per_channel));
    return maker.add(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}}, {input, weight});
  }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(KeepQuantised, AConvBetweenRequantisesComputesOnIntegers) {
  maker.output(numbers(conv(numbers(x, kHalves)), kQuarters));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("Requantise", "Conv", "Requantise"));
  const Node& node = after.nodes[1];
  EXPECT_EQ(after.values[node.inputs[0]].quantisation, kHalves);
  EXPECT_TRUE(after.values[node.inputs[1]].constant);
  EXPECT_EQ(after.values[node.inputs[1]].type, tensor::DataType::kInt8);
  EXPECT_EQ(after.values[node.outputs[0]].quantisation, kQuarters);
}

TEST_F(KeepQuantised, AResultThatIsReadAsNumbersTooStaysNumbers) {
  const ValueId y = conv(numbers(x, kHalves));
  maker.output(numbers(y, kQuarters));
  maker.output(maker.unary(UnaryKind::kTanh, y));
  const Graph after = run();
  EXPECT_THAT(operators_of(after),
              ElementsAre("Requantise", "Conv", "Requantise", "Requantise", "Tanh"));
}

TEST_F(KeepQuantised, AResultThatIsWantedInTwoFormsStaysNumbers) {
  const ValueId y = conv(numbers(x, kHalves));
  maker.output(numbers(y, kQuarters));
  maker.output(numbers(y, kHalves));
  const Graph after = run();
  EXPECT_FALSE(after.values[after.nodes[1].outputs[0]].quantisation);
}

TEST_F(KeepQuantised, MovesPassIntegersOn) {
  const ValueId moved = maker.add(graph::Transpose{{0, 1, 3, 2}}, {numbers(x, kHalves)});
  maker.output(numbers(conv(moved), kQuarters));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("Requantise", "Transpose", "Conv", "Requantise"));
  EXPECT_EQ(after.values[after.nodes[1].outputs[0]].quantisation, kHalves);
}

TEST_F(KeepQuantised, ResultsAreRoundedBeforeTheyAreMoved) {
  const ValueId moved = maker.add(graph::Reshape{{1, 48}}, {conv(numbers(x, kHalves))});
  maker.output(numbers(moved, kQuarters));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("Requantise", "Conv", "Reshape", "Requantise"));
  EXPECT_EQ(after.values[after.nodes[1].outputs[0]].quantisation, kQuarters);
}

TEST_F(KeepQuantised, AConcatOfDifferentFormsHasTheFormOfItsResult) {
  const ValueId both = maker.add(graph::Concat{1}, {numbers(x, kHalves), numbers(x, kQuarters)});
  maker.output(numbers(both, kHalves));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "Concat", "Requantise"));
}

TEST_F(KeepQuantised, NumbersThatAreQuantisedAgainInTheSameFormAreNotTouched) {
  maker.output(numbers(numbers(x, kHalves), kHalves));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise"));
}

TEST_F(KeepQuantised, OneRequantiseChangesTheForm) {
  maker.output(numbers(numbers(x, kHalves), kQuarters));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "Requantise"));
}

TEST_F(KeepQuantised, AnOutputOfTheModelStaysNumbers) {
  maker.output(conv(numbers(x, kHalves)));
  const Graph after = run();
  EXPECT_THAT(operators_of(after), ElementsAre("Requantise", "Conv"));
  EXPECT_FALSE(after.values[after.outputs[0]].quantisation);
}

TEST_F(KeepQuantised, WhatIsStoredHasTheNameOfTheIntegers) {
  const ValueId y = conv(numbers(x, kHalves));
  const ValueId integers = maker.requantise(y, kQuarters);
  const std::string name = maker.graph.values[integers].name;
  maker.output(maker.dequantise(integers));
  const Graph after = run();
  EXPECT_EQ(after.values[after.nodes[1].outputs[0]].name, name);
}

// The bounds are none that the form of the result would saturate at.
TEST_F(KeepQuantised, AFunctionThatCutsOffIsComputedOnIntegers) {
  const ValueId sum = maker.binary(BinaryKind::kAdd, numbers(x, kHalves), numbers(x, kQuarters));
  maker.output(numbers(maker.unary(UnaryKind::kRelu, sum), kQuarters));
  const Graph after = run();
  ASSERT_THAT(operators_of(after),
              ElementsAre("Requantise", "Requantise", "Add", "Relu", "Requantise"));
  EXPECT_EQ(after.values[after.nodes[2].outputs[0]].quantisation, kQuarters);
  EXPECT_EQ(after.values[after.nodes[3].outputs[0]].quantisation, kQuarters);
}

TEST_F(KeepQuantised, OtherFunctionsReadExactNumbers) {
  const ValueId sum = maker.binary(BinaryKind::kAdd, numbers(x, kHalves), numbers(x, kQuarters));
  maker.output(numbers(maker.unary(UnaryKind::kTanh, sum), kQuarters));
  const Graph after = run();
  EXPECT_FALSE(after.values[after.nodes[2].outputs[0]].quantisation);
}

TEST_F(KeepQuantised, ASumThatIsReadAgainIsNotCutOffAsIntegers) {
  const ValueId sum = maker.binary(BinaryKind::kAdd, numbers(x, kHalves), numbers(x, kQuarters));
  maker.output(numbers(maker.unary(UnaryKind::kRelu, sum), kQuarters));
  maker.output(sum);
  const Graph after = run();
  EXPECT_FALSE(after.values[after.nodes[2].outputs[0]].quantisation);
}

}  // namespace
}  // namespace millrace::lowering
