#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

TEST(EliminateDeadCode, DropsWhatNoOutputNeeds) {
  GraphMaker maker;
  const ValueId x = maker.input({2, 3});
  const ValueId kept = maker.unary(UnaryKind::kRelu, x);
  maker.unary(UnaryKind::kTanh, maker.binary(BinaryKind::kAdd, kept, maker.random({3})));
  maker.output(maker.unary(UnaryKind::kAbs, kept));
  const Graph after = run_pass(eliminate_dead_code, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Relu", "Abs"));
  EXPECT_EQ(after.values.size(), 3u);
}

TEST(EliminateDeadCode, KeepsInputsThatAreNotRead) {
  GraphMaker maker;
  maker.input({7});
  maker.output(maker.unary(UnaryKind::kRelu, maker.input({2, 3})));
  const Graph after = run_pass(eliminate_dead_code, maker.graph);
  EXPECT_EQ(after.inputs.size(), 2u);
  EXPECT_EQ(after.values[after.inputs[0]].shape, (Dims{7}));
}

TEST(EliminateDeadCode, LeavesAbsentOperandsAbsent) {
  GraphMaker maker;
  const ValueId x = maker.input({1, 2, 3, 3}), unused = maker.random({4});
  const ValueId first = maker.conv(x, 2);
  maker.graph.nodes[0].inputs.push_back(kNoValue);
  maker.output(first);
  const Graph after = run_pass(eliminate_dead_code, maker.graph);
  EXPECT_EQ(after.nodes[0].inputs[2], kNoValue);
  EXPECT_LT(after.values.size(), maker.graph.values.size());
  EXPECT_EQ(maker.graph.values[unused].shape, (Dims{4}));
}

}  // namespace
}  // namespace millrace::lowering
