#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using graph::Quantisation;
using ::testing::ElementsAre;

const Quantisation kFromZero{{0.02f}, {0}};
const Quantisation kZeroToSix{{6.0f / 255}, {0}};
const Quantisation kAroundZero{{0.02f}, {128}};

class DropImpliedFunctions : public ::testing::Test {
 protected:
  Graph run() { return run_pass(drop_implied_functions, maker.graph); }
  ValueId numbers(ValueId id, const Quantisation& form) {
    return maker.dequantise(maker.requantise(id, form));
  }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(DropImpliedFunctions, ReluBeforeIntegersFromZero) {
  maker.output(numbers(maker.unary(UnaryKind::kRelu, x), kFromZero));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise"));
}

TEST_F(DropImpliedFunctions, ReluAfterIntegersFromZero) {
  maker.output(maker.unary(UnaryKind::kTanh, maker.unary(UnaryKind::kRelu, numbers(x, kFromZero))));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "Tanh"));
}

TEST_F(DropImpliedFunctions, ClipToTheRangeOfTheIntegers) {
  maker.output(numbers(maker.unary(UnaryKind::kClip, x, 0, 6), kZeroToSix));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise"));
}

TEST_F(DropImpliedFunctions, TheActivationOfAConv) {
  maker.output(numbers(maker.conv(x, 3), kFromZero));
  std::get<Conv>(maker.graph.nodes[0].op).activation.kind = UnaryKind::kRelu;
  const Graph after = run();
  EXPECT_EQ(std::get<Conv>(after.nodes[0].op).activation.kind, UnaryKind::kIdentity);
}

TEST_F(DropImpliedFunctions, NotWhereIntegersBelowTheBoundExist) {
  maker.output(numbers(maker.unary(UnaryKind::kRelu, x), kAroundZero));
  maker.output(maker.unary(UnaryKind::kRelu, numbers(x, kAroundZero)));
  const Graph after = run();
  EXPECT_THAT(operators_of(after),
              ElementsAre("Relu", "Requantise", "Requantise", "Requantise", "Requantise", "Relu"));
}

TEST_F(DropImpliedFunctions, NotWhereTheRangeIsWiderThanTheClip) {
  maker.output(numbers(maker.unary(UnaryKind::kClip, x, 0, 2), kZeroToSix));
  EXPECT_THAT(operators_of(run()), ElementsAre("Clip", "Requantise", "Requantise"));
}

TEST_F(DropImpliedFunctions, NotWhereTheNumbersAreReadElsewhere) {
  const ValueId y = maker.unary(UnaryKind::kRelu, x);
  maker.output(numbers(y, kFromZero));
  maker.output(y);
  EXPECT_THAT(operators_of(run()), ElementsAre("Relu", "Requantise", "Requantise"));
}

}  // namespace
}  // namespace millrace::lowering
