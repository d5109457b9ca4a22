#include <limits>

#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

using ::testing::Values;

struct NumberCase {
  BinaryKind kind;
  bool number_first;
  float number;
  Activation expected;
};

class ArithmeticWithANumber : public ::testing::TestWithParam<NumberCase> {};

TEST_P(ArithmeticWithANumber, IsAFunction) {
  GraphMaker maker;
  const ValueId x = maker.input({2, 3}), number = maker.number(GetParam().number);
  maker.output(GetParam().number_first ? maker.binary(GetParam().kind, number, x)
                                       : maker.binary(GetParam().kind, x, number));
  const Graph after = run_pass(canonicalise_arithmetic, maker.graph);
  ASSERT_EQ(after.nodes.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<Unary>(after.nodes[0].op));
  EXPECT_EQ(std::get<Unary>(after.nodes[0].op).function, GetParam().expected);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, ArithmeticWithANumber,
    Values(NumberCase{BinaryKind::kAdd, false, 3, {UnaryKind::kLinear, 1, 3}},
           NumberCase{BinaryKind::kAdd, true, 3, {UnaryKind::kLinear, 1, 3}},
           NumberCase{BinaryKind::kSub, false, 3, {UnaryKind::kLinear, 1, -3}},
           NumberCase{BinaryKind::kSub, true, 3, {UnaryKind::kLinear, -1, 3}},
           NumberCase{BinaryKind::kMul, true, 3, {UnaryKind::kLinear, 3, 0}},
           NumberCase{BinaryKind::kDiv, false, 4, {UnaryKind::kLinear, 0.25f, 0}},
           NumberCase{BinaryKind::kDiv, true, 1, {UnaryKind::kReciprocal, 0, 0}},
           NumberCase{BinaryKind::kPow, false, 2, {UnaryKind::kPow, 2, 0}},
           NumberCase{BinaryKind::kMin, false, 6, {UnaryKind::kClip, -kInfinity, 6}},
           NumberCase{BinaryKind::kMax, true, 0, {UnaryKind::kRelu, 0, 0}},
           NumberCase{BinaryKind::kPrelu, false, 0.1f, {UnaryKind::kLeakyRelu, 0.1f, 0}}));

TEST(CanonicaliseArithmetic, LeavesWhatIsNoFunctionOfOneOperand) {
  GraphMaker maker;
  const ValueId x = maker.input({3});
  maker.output(maker.binary(BinaryKind::kDiv, maker.number(2), x));
  maker.output(maker.binary(BinaryKind::kAdd, x, maker.constant({1, 1, 1}, {1})));  // changes rank
  maker.output(maker.binary(BinaryKind::kMul, x, maker.random({3})));
  EXPECT_THAT(operators_of(run_pass(canonicalise_arithmetic, maker.graph)),
              ElementsAre("Div", "Add", "Mul"));
}

TEST(CanonicaliseArithmetic, LeavesIntegersAlone) {
  Graph graph;
  const auto type = tensor::DataType::kInt64;
  graph.inputs = {graph.add_value({"x", type, {2}, {}})};
  const ValueId one =
      graph.add_constant("one", type, {1}, graph::Constant::of(std::vector<int64_t>{1}));
  graph.outputs = {graph.add_value({"y", type, {2}, {}})};
  graph.nodes = {{"add", Binary{BinaryKind::kAdd}, {0, one}, graph.outputs}};
  ASSERT_TRUE(canonicalise_arithmetic(graph, {}).ok());
  EXPECT_THAT(operators_of(graph), ElementsAre("Add"));
}

TEST(CanonicaliseArithmetic, MergesLinears) {
  GraphMaker maker;
  const ValueId shifted = maker.binary(BinaryKind::kSub, maker.input({4}), maker.number(2));
  maker.output(maker.binary(BinaryKind::kDiv, shifted, maker.number(4)));
  const Graph after = run_pass(canonicalise_arithmetic, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Linear"));
  EXPECT_EQ(std::get<Unary>(after.nodes[0].op).function,
            (Activation{UnaryKind::kLinear, 0.25f, -0.5f}));
}

TEST(CanonicaliseArithmetic, MergesClips) {
  GraphMaker maker;
  const ValueId positive = maker.unary(UnaryKind::kRelu, maker.input({40}));
  maker.output(maker.binary(BinaryKind::kMin, positive, maker.number(3)));
  const Graph after = run_pass(canonicalise_arithmetic, maker.graph);
  ASSERT_THAT(operators_of(after), ElementsAre("Clip"));
  EXPECT_EQ(std::get<Unary>(after.nodes[0].op).function, (Activation{UnaryKind::kClip, 0, 3}));
}

TEST(CanonicaliseArithmetic, MergesClipsThatDoNotMeet) {
  GraphMaker maker;
  const ValueId high = maker.unary(UnaryKind::kClip, maker.input({8}), 2, 3);
  maker.output(maker.unary(UnaryKind::kClip, high, -1, 1));
  run_pass(canonicalise_arithmetic, maker.graph);
}

TEST(CanonicaliseArithmetic, AClipWithoutBoundsVanishes) {
  GraphMaker maker;
  const ValueId x = maker.unary(UnaryKind::kClip, maker.input({8}), -kInfinity,
                                std::numeric_limits<float>::max());
  maker.output(maker.unary(UnaryKind::kTanh, x));
  EXPECT_THAT(operators_of(run_pass(canonicalise_arithmetic, maker.graph)), ElementsAre("Tanh"));
}

TEST(CanonicaliseArithmetic, ASpatialMeanIsAGlobalPool) {
  GraphMaker maker;
  const ValueId x = maker.input({1, 3, 4, 5});
  maker.output(maker.add(graph::Reduce{graph::ReduceKind::kMean, {2, 3}, true}, {x}));
  maker.output(maker.add(graph::Reduce{graph::ReduceKind::kMax, {2, 3}, false}, {x}));
  maker.output(maker.add(graph::Reduce{graph::ReduceKind::kMean, {3}, true}, {x}));
  EXPECT_THAT(operators_of(run_pass(canonicalise_arithmetic, maker.graph)),
              ElementsAre("GlobalPool", "GlobalPool", "Reshape", "Reduce"));
}

}  // namespace
}  // namespace millrace::lowering
