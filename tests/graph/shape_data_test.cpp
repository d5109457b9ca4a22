#include <gmock/gmock.h>

#include <limits>

#include "tests/graph/shape_test_support.h"

namespace millrace::graph {
namespace {

TEST(ShapeConcat, AddsAlongTheAxis) {
  expect_shape(Concat{1}, {f32({1, 2, 3}), f32({1, 5, 3}), f32({1, 1, 3})}, {1, 8, 3});
  expect_refused(Concat{1}, {f32({1, 2, 3}), f32({1, 5, 4})}, "an input is [1,5,4]");
  expect_refused(Concat{1}, {f32({1, 2}), f32({1, 5, 4})}, "an input is [1,5,4]");
  expect_refused(Concat{3}, {f32({1, 2, 3})}, "axis 3");
  expect_refused(Concat{0}, {f32({1}), i64({1})}, "differ in type");
  expect_refused(Concat{0}, {f32({1}), kAbsent}, "absent");
  expect_refused(Concat{0}, {}, "takes");
}

TEST(ShapeConcat, RefusesAnOversizedSum) {
  const Value half = f32({int64_t{1} << 39});
  expect_shape(Concat{0}, {half, half}, {int64_t{1} << 40});
  expect_refused(Concat{0}, {half, half, half}, "2^40");
}

TEST(ShapeReshape, KeepsTheElements) {
  expect_shape(Reshape{{6, 4}}, {f32({2, 3, 4})}, {6, 4});
  expect_shape(Reshape{{}}, {f32({1, 1})}, {});
  expect_refused(Reshape{{5, 4}}, {f32({2, 3, 4})}, "has not as many elements");
  expect_refused(Reshape{{-1, 4}}, {f32({2, 3, 4})}, "below 0");
  expect_refused(Reshape{{int64_t{1} << 62, 4, 24}}, {f32({2, 3, 4})}, "2^40");
}

TEST(ShapeTranspose, PermutesDimensions) {
  expect_shape(Transpose{{0, 2, 3, 1}}, {f32({1, 3, 4, 5})}, {1, 4, 5, 3});
  expect_refused(Transpose{{0, 0}}, {f32({2, 3})}, "is no permutation");
  expect_refused(Transpose{{0, 2}}, {f32({2, 3})}, "permutation");
  expect_refused(Transpose{{0}}, {f32({2, 3})}, "permutation has 1 entries");
}

TEST(ShapeSlice, TakesBothDirections) {
  expect_shape(Slice{{0, 1}, {2, 3}, {1, 2}}, {f32({2, 6})}, {2, 3});
  expect_shape(Slice{{5}, {6}, {-1}}, {f32({6})}, {6});
  expect_shape(Slice{{3}, {1}, {INT64_MIN}}, {f32({6})}, {1});
}

TEST(ShapeSlice, RefusesWhatLeavesTheInput) {
  expect_shape(Slice{{6}, {0}, {1}}, {f32({6})}, {0});
  expect_refused(Slice{{7}, {0}, {1}}, {f32({6})}, "leave a dimension of 6");
  expect_refused(Slice{{0}, {4}, {2}}, {f32({6})}, "leave a dimension of 6");
  expect_refused(Slice{{2}, {4}, {-1}}, {f32({6})}, "leave a dimension of 6");
  expect_refused(Slice{{6}, {1}, {1}}, {f32({6})}, "leave");
  expect_refused(Slice{{-1}, {1}, {1}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {0}, {0}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {7}, {1}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {2}, {0}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {2}, {INT64_MAX}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {2}, {INT64_MIN}}, {f32({6})}, "leave");
  expect_refused(Slice{{0}, {2}, {}}, {f32({6})}, "one entry per dimension");
  // 2^32 steps of 2^32 are 0 in 64 bits.
  constexpr int64_t kStep = int64_t{1} << 32;
  const Value large = f32({int64_t{1} << 40});
  expect_refused(Slice{{0}, {kStep + 1}, {kStep}}, {large}, "leave");
  expect_refused(Slice{{0}, {kStep + 1}, {-kStep}}, {large}, "leave");
  expect_refused(Slice{{0}, {INT64_MAX}, {1}}, {large}, "leave");
}

TEST(ShapeGather, InsertsTheIndexShape) {
  expect_shape(Gather{1}, {f32({2, 9, 4}), i64({3, 5})}, {2, 3, 5, 4});
  expect_shape(Gather{0}, {f32({9, 4}), i64({})}, {4});
  expect_refused(Gather{2}, {f32({9, 4}), i64({})}, "axis 2");
  expect_refused(Gather{0}, {f32({9, 4}), f32({1})}, "indices are not integers");
  expect_refused(Gather{0}, {f32(Dims(6, 1)), i64(Dims(6, 1))}, "rank 11 is above the limit");
}

TEST(ShapePad, AddsAndCrops) {
  expect_shape(Pad{PadMode::kConstant, {0, 1}, {2, 3}, 0}, {f32({4, 4})}, {6, 8});
  expect_shape(Pad{PadMode::kConstant, {-1}, {-2}, 0}, {f32({4})}, {1});
  expect_shape(Pad{PadMode::kConstant, {-2}, {-2}, 0}, {f32({4})}, {0});
  expect_shape(Pad{PadMode::kConstant, {1}, {2}, 0}, {f32({0})}, {3});
  expect_refused(Pad{PadMode::kConstant, {-2}, {-3}, 0}, {f32({4})}, "crops");
  expect_refused(Pad{PadMode::kEdge, {1}, {0}, 0}, {f32({0})}, "does not have");
  expect_refused(Pad{PadMode::kConstant, {-5}, {9}, 0}, {f32({4})}, "crops");
  expect_refused(Pad{PadMode::kReflect, {4}, {0}, 0}, {f32({4})}, "reflected");
  expect_shape(Pad{PadMode::kReflect, {3}, {3}, 0}, {f32({4})}, {10});
  expect_refused(Pad{PadMode::kConstant, {INT64_MAX}, {1}, 0}, {f32({4})}, "begin");
  expect_refused(Pad{PadMode::kConstant, {INT64_MIN}, {1}, 0}, {f32({4})}, "begin");
  expect_refused(Pad{static_cast<PadMode>(3), {0}, {0}, 0}, {f32({4})}, "unknown mode");
}

Resize resize(Dims shape, std::vector<float> scales) {
  Resize op;
  op.shape = std::move(shape);
  op.scales = std::move(scales);
  return op;
}

TEST(ShapeResize, TakesTheStatedShape) {
  expect_shape(resize({1, 8, 20, 20}, {1, 1, 2, 2}), {f32({1, 8, 10, 10})}, {1, 8, 20, 20});
  expect_shape(resize({1, 1, 3}, {1, 1, 0.6f}), {f32({1, 1, 5})}, {1, 1, 3});
  expect_shape(resize({1, 1, 7}, {1, 1, 7.0f / 5}), {f32({1, 1, 5})}, {1, 1, 7});
}

TEST(ShapeResize, RefusesScalesThatWouldLeaveTheInput) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (float scale : {0.0f, -2.0f, 1e-30f, 1e30f, 0.5f, kNan}) {
    expect_refused(resize({1, 1, 20}, {1, 1, scale}), {f32({1, 1, 10})}, "does not turn");
  }
  expect_refused(resize({1, 20}, {1, 2}), {f32({1, 1, 10})}, "one entry per dimension");
  Resize unknown = resize({10}, {1});
  unknown.coordinates = static_cast<CoordinateMode>(9);
  expect_refused(unknown, {f32({10})}, "unknown mode");
}

TEST(ShapeExpand, BroadcastsToTheShape) {
  expect_shape(Expand{{2, 3}}, {f32({3})}, {2, 3});
  expect_refused(Expand{{1, 3}}, {f32({2, 3})}, "does not broadcast to [1,3]");
  expect_refused(Expand{{1 << 30, 1 << 30}}, {f32({})}, "2^40");
}

}  // namespace
}  // namespace millrace::graph
