#include "graph/shape.h"

#include <gmock/gmock.h>

#include "tests/graph/shape_test_support.h"

namespace millrace::graph {
namespace {

using tensor::DataType;

TEST(Broadcast, FollowsNumpy) {
  EXPECT_EQ(*broadcast({2, 3}, {3}), (Dims{2, 3}));
  EXPECT_EQ(*broadcast({1, 8, 1, 1}, {2, 1, 4, 4}), (Dims{2, 8, 4, 4}));
  EXPECT_EQ(*broadcast({}, {5}), (Dims{5}));
  EXPECT_EQ(*broadcast({}, {}), (Dims{}));
  EXPECT_FALSE(broadcast({2, 3}, {2}).ok());
}

TEST(CheckShape, HoldsTheLimits) {
  EXPECT_TRUE(check_shape({}).ok());
  EXPECT_TRUE(check_shape({1 << 20, 1 << 20}).ok());
  EXPECT_FALSE(check_shape({1 << 20, (1 << 20) + 1}).ok());
  EXPECT_FALSE(check_shape(Dims(9, 1)).ok());
  EXPECT_TRUE(check_shape({3, 0}).ok());
  EXPECT_FALSE(check_shape({0, 1 << 20, (1 << 20) + 1}).ok());
  EXPECT_FALSE(check_shape({-1}).ok());
  EXPECT_FALSE(check_shape({INT64_MAX, INT64_MAX, INT64_MIN}).ok());
}

TEST(InferOutput, NamesTheNode) {
  Graph graph;
  graph.add_value(f32({2, 3}));
  const Node node{"head/softmax", Softmax{2}, {0}, {}};
  const auto output = infer_output(graph, node);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.status().message(),
            "node 'head/softmax' (Softmax): axis 2 of a tensor of rank 2");
}

TEST(InferOutput, RefusesTooManyAndTooFewOperands) {
  expect_refused(Unary{}, {}, "takes 1 inputs, has 0");
  expect_refused(Unary{}, {f32({1}), f32({1})}, "takes 1 inputs, has 2");
  expect_refused(Binary{}, {f32({1}), kAbsent}, "input 1 is absent");
}

TEST(InferOutput, RefusesOversizedOperandsAndResults) {
  expect_refused(Unary{}, {f32({INT64_MAX, 3})}, "input 0: shape");
  expect_refused(Binary{}, {f32({1 << 30, 1}), f32({1, 1 << 30})}, "output: shape");
}

TEST(ShapeUnary, KeepsTypeAndShape) {
  expect_shape(Unary{{UnaryKind::kTanh, 0, 0}}, {f32({2, 3})}, {2, 3});
  expect_refused(Unary{{static_cast<UnaryKind>(99), 0, 0}}, {f32({2})}, "unknown function 99");
  expect_refused(Unary{{UnaryKind::kRelu, 0, 0}}, {{"", DataType::kBoolean, {2}, {}}}, "BOOLEAN");
}

TEST(ShapeBinary, Broadcasts) {
  expect_shape(Binary{BinaryKind::kAdd}, {f32({4, 1, 3}), f32({2, 1})}, {4, 2, 3});
  expect_refused(Binary{}, {f32({4}), f32({3})}, "[4] and [3] do not broadcast");
  expect_refused(Binary{}, {f32({4}), i64({4})}, "operands are FLOAT32 and INT64");
  expect_refused(Binary{static_cast<BinaryKind>(8)}, {f32({4}), f32({4})}, "unknown function");
}

TEST(ShapeSoftmax, ChecksTheAxis) {
  expect_shape(Softmax{1}, {f32({2, 10})}, {2, 10});
  expect_refused(Softmax{-1}, {f32({2, 10})}, "axis -1 of a tensor of rank 2");
  expect_refused(Softmax{0}, {i64({2})}, "not of a floating type");
}

TEST(ShapeCast, GivesTheType) {
  const auto output = infer_from(Cast{DataType::kInt64}, {f32({2})});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->type, DataType::kInt64);
  expect_refused(Cast{static_cast<DataType>(77)}, {f32({2})}, "unknown type");
}

TEST(ShapeReduce, DropsOrKeepsAxes) {
  expect_shape(Reduce{ReduceKind::kMean, {1, 3}, true}, {f32({2, 3, 4, 5})}, {2, 1, 4, 1});
  expect_shape(Reduce{ReduceKind::kMean, {1, 3}, false}, {f32({2, 3, 4, 5})}, {2, 4});
  expect_shape(Reduce{ReduceKind::kMax, {0}, false}, {f32({2})}, {});
}

TEST(ShapeReduce, RefusesBadAxes) {
  expect_refused(Reduce{ReduceKind::kMean, {}, true}, {f32({2})}, "no axes");
  expect_refused(Reduce{ReduceKind::kMean, {1, 0}, true}, {f32({2, 3})}, "not ascending");
  expect_refused(Reduce{ReduceKind::kMean, {1, 1}, true}, {f32({2, 3})}, "not ascending");
  expect_refused(Reduce{ReduceKind::kMean, {2}, true}, {f32({2, 3})}, "axis 2");
  expect_refused(Reduce{static_cast<ReduceKind>(9), {0}, true}, {f32({2})}, "unknown function");
}

}  // namespace
}  // namespace millrace::graph
