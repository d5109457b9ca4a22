#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

// For each node of a Conv, a Relu and a Softmax: true if it is marked.
std::vector<bool> marks(const PassContext& context) {
  GraphMaker maker;
  const ValueId y = maker.conv(maker.input({1, 2, 3, 3}), 4);
  maker.output(maker.add(graph::Softmax{1, false}, {maker.unary(UnaryKind::kRelu, y)}));
  Graph graph = maker.graph;
  EXPECT_TRUE(mark_full_precision(graph, context).ok());
  std::vector<bool> marked;
  for (const graph::Node& node : graph.nodes)
    marked.push_back(node.precision == graph::Precision::kFp32);
  return marked;
}

using Marks = std::vector<bool>;
constexpr auto kBf16 = graph::Precision::kBf16;

TEST(MarkFullPrecision, ByTheNamesOfOperators) {
  EXPECT_EQ(marks({kBf16, {}, {"Softmax", "Conv"}}), (Marks{true, false, true}));
}

// A move in BF16 would round what is computed in FP32, or is to be.
TEST(MarkFullPrecision, AndWhatMovesNumbersBetweenThem) {
  GraphMaker maker;
  ValueId y = maker.conv(maker.input({1, 2, 3, 3}), 4);
  y = maker.add(graph::Reshape{{4, 9}}, {y});
  y = maker.add(graph::Transpose{{1, 0}}, {y});
  maker.output(maker.unary(UnaryKind::kRelu, maker.add(graph::Softmax{1, false}, {y})));
  ASSERT_TRUE(mark_full_precision(maker.graph, {kBf16, {}, {"Softmax"}}).ok());
  Marks marked;
  for (const graph::Node& node : maker.graph.nodes)
    marked.push_back(node.precision == graph::Precision::kFp32);
  EXPECT_EQ(marked, (Marks{false, true, true, true, false}));
}

TEST(MarkFullPrecision, NothingByDefault) {
  EXPECT_EQ(marks({kBf16}), (Marks{false, false, false}));
}

TEST(MarkFullPrecision, ANameOfNothingIsRefused) {
  GraphMaker maker;
  maker.output(maker.conv(maker.input({1, 2, 3, 3}), 4));
  const Status status = mark_full_precision(maker.graph, {kBf16, {}, {"Conv", "Convv"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("'Convv' to compute in FP32"));
}

TEST(MarkFullPrecision, NothingOfAnFp32Program) {
  EXPECT_EQ(marks({graph::Precision::kFp32, {}, {"Conv"}}), (Marks{false, false, false}));
}

// Precisions that were chosen by measurement are in the graph already.
TEST(MarkFullPrecision, ThePrecisionOfOtherNodesStays) {
  GraphMaker maker;
  maker.output(maker.conv(maker.input({1, 2, 3, 3}), 4));
  maker.graph.nodes[0].precision = graph::Precision::kFp32;
  ASSERT_TRUE(mark_full_precision(maker.graph, {kBf16}).ok());
  EXPECT_EQ(maker.graph.nodes[0].precision, graph::Precision::kFp32);
}

}  // namespace
}  // namespace millrace::lowering
