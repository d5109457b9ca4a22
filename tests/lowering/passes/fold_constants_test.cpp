#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

TEST(FoldConstants, ComputesChainsOfConstants) {
  GraphMaker maker;
  const ValueId sum = maker.binary(BinaryKind::kAdd, maker.random({3}), maker.random({3}));
  const ValueId root = maker.unary(UnaryKind::kAbs, sum);
  maker.output(maker.binary(BinaryKind::kMul, maker.input({2, 3}), root));
  const Graph after = run_pass(fold_constants, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Mul"));
}

TEST(FoldConstants, AnOutputStaysMadeByANode) {
  GraphMaker maker;
  maker.input({2});
  maker.output(maker.unary(UnaryKind::kNeg, maker.constant({2}, {1, -2})));
  const Graph once = run_pass(fold_constants, maker.graph);
  EXPECT_THAT(operators_of(once), ElementsAre("Identity"));
  EXPECT_THAT(operators_of(run_pass(fold_constants, once)), ElementsAre("Identity"));
}

TEST(FoldConstants, LeavesWhatWouldGrowWithoutBound) {
  GraphMaker maker;
  const ValueId huge = maker.add(graph::Expand{{1 << 28}}, {maker.number(1)});
  maker.output(maker.add(graph::Slice{{0}, {4}, {1}}, {huge}));
  Graph graph = maker.graph;
  ASSERT_TRUE(fold_constants(graph, {}).ok());
  EXPECT_THAT(operators_of(graph), ElementsAre("Expand", "Slice"));
}

TEST(FoldConstants, NamesTheNodeThatCannotBe) {
  GraphMaker maker;
  const ValueId index = maker.graph.add_constant("index", tensor::DataType::kInt64, {1},
                                                 graph::Constant::of(std::vector<int64_t>{9}));
  maker.output(maker.add(graph::Gather{0}, {maker.random({3}), index}));
  Graph graph = maker.graph;
  const Status status = fold_constants(graph, {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), ::testing::StartsWith("node 'n0' (Gather)"));
}

}  // namespace
}  // namespace millrace::lowering
