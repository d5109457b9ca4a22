#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

// Each test writes a function as exporters do and wants one node of it.
class RecogniseFunctions : public ::testing::Test {
 protected:
  void expect_becomes(ValueId y, const char* function) {
    maker.output(y);
    const Graph canonical = run_pass(canonicalise_arithmetic, maker.graph);
    EXPECT_THAT(operators_of(run_pass(recognise_functions, canonical)), ElementsAre(function));
  }
  ValueId mul(ValueId a, ValueId b) { return maker.binary(BinaryKind::kMul, a, b); }
  ValueId mul(ValueId a, float b) { return mul(a, maker.number(b)); }
  ValueId add(ValueId a, float b) { return maker.binary(BinaryKind::kAdd, a, maker.number(b)); }
  ValueId div(ValueId a, float b) { return maker.binary(BinaryKind::kDiv, a, maker.number(b)); }
  ValueId erf_of_x() { return maker.unary(UnaryKind::kErf, div(x, 1.41421356f)); }

  GraphMaker maker;
  ValueId x = maker.input({50});
};

TEST_F(RecogniseFunctions, Swish) {
  expect_becomes(mul(x, maker.unary(UnaryKind::kSigmoid, x)), "Swish");
}
TEST_F(RecogniseFunctions, SwishTheOtherWayRound) {
  expect_becomes(mul(maker.unary(UnaryKind::kSigmoid, x), x), "Swish");
}
TEST_F(RecogniseFunctions, HardSwishByHardSigmoid) {
  expect_becomes(mul(x, maker.unary(UnaryKind::kHardSigmoid, x, 1.0f / 6, 0.5f)), "HardSwish");
}
TEST_F(RecogniseFunctions, HardSwishByClipThenProductThenDivision) {
  expect_becomes(div(mul(x, maker.unary(UnaryKind::kClip, add(x, 3), 0, 6)), 6), "HardSwish");
}
TEST_F(RecogniseFunctions, HardSwishByClipThenDivisionThenProduct) {
  expect_becomes(mul(x, div(maker.unary(UnaryKind::kClip, add(x, 3), 0, 6), 6)), "HardSwish");
}
TEST_F(RecogniseFunctions, HardSigmoidByClip) {
  expect_becomes(div(maker.unary(UnaryKind::kClip, add(x, 3), 0, 6), 6), "HardSigmoid");
}
TEST_F(RecogniseFunctions, GeluHalvedLast) {
  expect_becomes(mul(mul(x, add(erf_of_x(), 1)), 0.5f), "Gelu");
}
TEST_F(RecogniseFunctions, GeluHalvedFirst) {
  expect_becomes(mul(mul(x, 0.5f), add(erf_of_x(), 1)), "Gelu");
}
TEST_F(RecogniseFunctions, GeluHalvedInside) {
  expect_becomes(mul(x, mul(add(erf_of_x(), 1), 0.5f)), "Gelu");
}

TEST_F(RecogniseFunctions, LeavesLookAlikes) {
  const ValueId other = maker.input({50});
  maker.output(mul(x, maker.unary(UnaryKind::kSigmoid, other)));
  maker.output(mul(x, maker.unary(UnaryKind::kHardSigmoid, x, 0.2f, 0.5f)));
  EXPECT_THAT(operators_of(run_pass(recognise_functions, maker.graph)),
              ElementsAre("Sigmoid", "Mul", "HardSigmoid", "Mul"));
}

TEST_F(RecogniseFunctions, ASharedSigmoidStaysForItsOtherReader) {
  const ValueId sigmoid = maker.unary(UnaryKind::kSigmoid, x);
  maker.output(mul(x, sigmoid));
  maker.output(maker.unary(UnaryKind::kAbs, sigmoid));
  EXPECT_THAT(operators_of(run_pass(recognise_functions, maker.graph)),
              ElementsAre("Sigmoid", "Swish", "Abs"));
}

}  // namespace
}  // namespace millrace::lowering
