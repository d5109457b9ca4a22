#include <gmock/gmock.h>

#include "tests/graph/shape_test_support.h"

namespace millrace::graph {
namespace {

Conv conv2d(int64_t stride = 1, int64_t pad = 0, int64_t dilation = 1, int64_t group = 1) {
  return {{stride, stride}, {dilation, dilation}, {pad, pad}, {pad, pad}, group, {}};
}

Pool pool2d(PoolKind kind, int64_t kernel, int64_t stride, int64_t pad = 0) {
  Pool pool;
  pool.kind = kind;
  pool.kernel = {kernel, kernel};
  pool.strides = {stride, stride};
  pool.dilations = {1, 1};
  pool.pads_begin = pool.pads_end = {pad, pad};
  pool.ceil_excess = {0, 0};
  return pool;
}

TEST(ShapeConv, ComputesSpatialSizes) {
  expect_shape(conv2d(2, 3), {f32({1, 3, 224, 224}), f32({64, 3, 7, 7})}, {1, 64, 112, 112});
  expect_shape(conv2d(1, 2, 2), {f32({1, 4, 9, 9}), f32({8, 4, 3, 3})}, {1, 8, 9, 9});
  expect_shape(conv2d(1, 1, 1, 32), {f32({2, 32, 5, 6}), f32({32, 1, 3, 3})}, {2, 32, 5, 6});
}

TEST(ShapeConv, TakesOneAndThreeSpatialDimensions) {
  expect_shape(Conv{{2}, {1}, {1}, {0}, 1, {}}, {f32({1, 2, 9}), f32({4, 2, 3})}, {1, 4, 4});
  expect_shape(Conv{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1, {}},
               {f32({1, 1, 4, 5, 6}), f32({2, 1, 2, 2, 2})}, {1, 2, 3, 4, 5});
}

TEST(ShapeConv, TakesOptionalOperands) {
  const Value x = f32({1, 3, 4, 4}), weight = f32({8, 3, 1, 1}), y = f32({1, 8, 4, 4});
  expect_shape(conv2d(), {x, weight, f32({8}), y, f32({8})}, {1, 8, 4, 4});
  expect_shape(conv2d(), {x, weight, kAbsent, y}, {1, 8, 4, 4});
  expect_refused(conv2d(), {x, weight, f32({7})}, "bias is [7], expected [8]");
  expect_refused(conv2d(), {x, weight, kAbsent, f32({1, 8, 1, 1})}, "residual is [1,8,1,1]");
  expect_refused(conv2d(), {x, weight, kAbsent, kAbsent, f32({1})}, "slope is [1]");
}

TEST(ShapeConv, TakesNarrowWeights) {
  const Value weight{"", tensor::DataType::kBf16, {8, 3, 1, 1}, {}};
  expect_shape(conv2d(), {f32({1, 3, 4, 4}), weight}, {1, 8, 4, 4});
}

TEST(ShapeConv, RefusesHostileAttributes) {
  const std::vector<Value> operands = {f32({1, 4, 8, 8}), f32({8, 4, 3, 3})};
  expect_refused(conv2d(0), operands, "strides");
  expect_refused(conv2d(-1), operands, "strides");
  expect_refused(conv2d(1, -1), operands, "pads_begin");
  expect_refused(conv2d(1, INT64_MAX), operands, "pads_begin");
  expect_refused(conv2d(1, 0, 0), operands, "dilations");
  expect_refused(conv2d(1, 0, INT64_MAX), operands, "dilations");
  expect_refused(conv2d(1, 0, 1, 0), operands, "0 groups");
  expect_refused(conv2d(1, 0, 1, 3), operands, "3 groups do not divide");
  expect_refused(conv2d(1, 0, 1, 2), operands, "does not fit");
  expect_refused(conv2d(1, 0, 4), operands, "a window of 9 is larger than the padded input of 8");
  Conv short_strides = conv2d();
  short_strides.strides.pop_back();
  expect_refused(short_strides, operands, "strides has 1 entries, expected 2");
  Conv activation = conv2d();
  activation.activation.kind = static_cast<UnaryKind>(50);
  expect_refused(activation, operands, "unknown function");
}

TEST(ShapeConv, RefusesWrongRanks) {
  expect_refused(conv2d(), {f32({4, 8}), f32({8, 4})}, "expected [N, C]");
  expect_refused(conv2d(), {f32({1, 4, 8, 8}), f32({8, 4, 3})}, "differ in rank");
  expect_refused(conv2d(), {f32({1, 1, 1, 1, 1, 1}), f32({1, 1, 1, 1, 1, 1})}, "expected [N, C]");
}

TEST(ShapePool, ComputesSpatialSizes) {
  expect_shape(pool2d(PoolKind::kMax, 3, 2), {f32({1, 64, 113, 113})}, {1, 64, 56, 56});
  expect_shape(pool2d(PoolKind::kAverage, 2, 2), {f32({1, 8, 7, 7})}, {1, 8, 3, 3});
}

TEST(ShapePool, CeilModeIsPaddingThatNeverCounts) {
  Pool pool = pool2d(PoolKind::kMax, 2, 2);
  pool.pads_end = pool.ceil_excess = {1, 1};
  expect_shape(pool, {f32({1, 8, 7, 7})}, {1, 8, 4, 4});
  pool.ceil_excess = {2, 2};
  expect_refused(pool, {f32({1, 8, 7, 7})}, "ceil_excess is larger than pads_end");
}

TEST(ShapePool, RefusesWindowsThatSeeNothing) {
  expect_refused(pool2d(PoolKind::kMax, 2, 1, 2), {f32({1, 1, 4, 4})}, "lies in the padding");
  Pool pool = pool2d(PoolKind::kAverage, 2, 2);
  pool.pads_end = {3, 3};
  expect_refused(pool, {f32({1, 1, 4, 4})}, "lies in the padding");
  pool.count_include_pad = true;  // then the mean is that of counted zeros
  expect_shape(pool, {f32({1, 1, 4, 4})}, {1, 1, 3, 3});
}

TEST(ShapePool, RefusesTapsOnBothSidesOfTheInput) {
  Pool pool = pool2d(PoolKind::kAverage, 2, 1);
  pool.dilations = {3, 1};
  pool.pads_begin = {1, 0};
  pool.pads_end = {2, 0};
  expect_refused(pool, {f32({1, 1, 1, 2})}, "lies in the padding");  // taps at -1 and 2
  expect_refused(pool, {f32({1, 1, 2, 2})}, "lies in the padding");
  expect_shape(pool, {f32({1, 1, 3, 2})}, {1, 1, 3, 1});
  pool.count_include_pad = true;
  expect_shape(pool, {f32({1, 1, 1, 2})}, {1, 1, 1, 1});
  Pool centred = pool2d(PoolKind::kMax, 3, 1, 2);  // taps at -2, 0 and 2
  centred.dilations = {2, 2};
  expect_shape(centred, {f32({1, 1, 1, 1})}, {1, 1, 1, 1});
}

TEST(ShapePool, RefusesHostileAttributes) {
  const std::vector<Value> x = {f32({1, 1, 4, 4})};
  expect_refused(pool2d(PoolKind::kMax, 0, 1), x, "kernel");
  expect_refused(pool2d(PoolKind::kMax, 5, 1), x, "larger than the padded input");
  expect_refused(pool2d(PoolKind::kMax, 2, 0), x, "strides");
  expect_refused(pool2d(PoolKind::kMax, INT64_MAX, 1), x, "kernel");
  expect_refused(pool2d(static_cast<PoolKind>(4), 2, 2), x, "unknown kind");
  Pool dilated = pool2d(PoolKind::kMax, int64_t{1} << 31, 1);
  dilated.dilations = {int64_t{1} << 31, 1};
  expect_refused(dilated, x, "larger than the padded input");
}

TEST(ShapePool, OnlyTheMaximumExistsOfIntegers) {
  const Value image{"", tensor::DataType::kInt8, {1, 5, 7, 7}, {}};
  expect_shape(pool2d(PoolKind::kMax, 2, 1), {image}, {1, 5, 6, 6});
  expect_refused(pool2d(PoolKind::kAverage, 2, 1), {image}, "not of a floating type");
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage})
    expect_refused(GlobalPool{kind}, {image}, "not of a floating type");
}

TEST(ShapeGlobalPool, LeavesOnes) {
  expect_shape(GlobalPool{}, {f32({2, 5, 7, 7})}, {2, 5, 1, 1});
  expect_shape(GlobalPool{}, {f32({2, 5, 7})}, {2, 5, 1});
  expect_refused(GlobalPool{}, {f32({2, 5})}, "expected [N, C]");
}

TEST(ShapeMatMul, FollowsNumpy) {
  expect_shape(MatMul{}, {f32({2, 3}), f32({3, 4})}, {2, 4});
  expect_shape(MatMul{}, {f32({5, 1, 2, 3}), f32({7, 3, 4})}, {5, 7, 2, 4});
  expect_shape(MatMul{}, {f32({3}), f32({3, 4})}, {4});
  expect_shape(MatMul{}, {f32({2, 3}), f32({3})}, {2});
  expect_shape(MatMul{}, {f32({3}), f32({3})}, {});
}

TEST(ShapeMatMul, Transposes) {
  MatMul op;
  op.transpose_a = true;
  expect_shape(op, {f32({3, 2}), f32({3, 4})}, {2, 4});
  op.transpose_b = true;
  expect_shape(op, {f32({3, 2}), f32({4, 3})}, {2, 4});
  expect_refused(op, {f32({3}), f32({4, 3})}, "transpose_a needs rank 2");
}

TEST(ShapeMatMul, ChecksOperands) {
  expect_refused(MatMul{}, {f32({2, 3}), f32({4, 3})}, "inner dimensions 3 and 4 differ");
  expect_refused(MatMul{}, {f32({2, 2, 3}), f32({3, 3, 4})}, "do not broadcast");
  expect_refused(MatMul{}, {f32({}), f32({3})}, "rank 0");
  expect_shape(MatMul{}, {f32({2, 3}), f32({3, 4}), f32({2, 1})}, {2, 4});
  expect_refused(MatMul{}, {f32({2, 3}), f32({3, 4}), f32({5, 2, 4})}, "does not broadcast");
}

TEST(ShapeBatchNormalization, ChecksChannels) {
  const Value c = f32({3});
  expect_shape(BatchNormalization{}, {f32({1, 3, 4, 4}), c, c, c, c}, {1, 3, 4, 4});
  expect_refused(BatchNormalization{}, {f32({1, 3, 4, 4}), c, c, f32({4}), c}, "mean is [4]");
  expect_refused(BatchNormalization{}, {f32({3}), c, c, c, c}, "expected [N, C, ...]");
}

TEST(ShapeMatMul, FloatingTypesMixAndIntegersDoNot) {
  const auto matrix = [](tensor::DataType type) { return Value{"", type, {2, 2}, {}}; };
  using tensor::DataType;
  expect_shape(MatMul{}, {matrix(DataType::kFloat32), matrix(DataType::kBf16)}, {2, 2});
  expect_shape(MatMul{}, {matrix(DataType::kInt32), matrix(DataType::kInt32)}, {2, 2});
  expect_refused(MatMul{}, {matrix(DataType::kInt32), matrix(DataType::kInt8)}, "b is INT8");
  expect_refused(MatMul{}, {matrix(DataType::kFloat32), matrix(DataType::kInt8)}, "b is INT8");
  expect_refused(MatMul{}, {matrix(DataType::kBoolean), matrix(DataType::kBoolean)}, "BOOLEAN");
}

}  // namespace
}  // namespace millrace::graph
