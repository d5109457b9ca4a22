#include "tensor/conversion/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace millrace::tensor {
namespace {

using Visits = std::vector<std::pair<size_t, size_t>>;

Visits visits(const Box& box) {
  Visits result;
  for_each_row(box, [&](size_t from, size_t to, const Dim& dim) {
    for (size_t i = 0; i < dim.extent; ++i)
      result.emplace_back(from + i * dim.from_stride, to + i * dim.to_stride);
  });
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Walk, DenseDimensionsBecomeOneRow) {
  const Box box = simplified({5, 7, {{2, 12, 12}, {1, 99, 3}, {3, 4, 4}, {4, 1, 1}}});
  ASSERT_EQ(box.dims.size(), 1u);
  EXPECT_EQ(box.dims[0].extent, 24u);
  EXPECT_EQ(box.dims[0].from_stride, 1u);
  EXPECT_EQ(box.from_offset, 5u);
  EXPECT_EQ(box.to_offset, 7u);
}

TEST(Walk, TransposedTilesVisitTheSameElements) {
  const Box transposition{0, 0, {{128, 1, 10}, {10, 128, 1}}};
  const Box tiled = simplified(transposition);
  EXPECT_EQ(tiled.dims.size(), 3u);
  EXPECT_EQ(tiled.dims.back().extent, 64u);
  EXPECT_EQ(visits(tiled), visits(transposition));
}

TEST(Walk, ReversedSwapsTheSides) {
  const Box box{3, 5, {{4, 1, 7}, {7, 4, 1}}};
  Visits swapped;
  for (const auto& [from, to] : visits(box)) swapped.emplace_back(to, from);
  std::sort(swapped.begin(), swapped.end());
  EXPECT_EQ(visits(simplified(reversed(box))), swapped);
}

TEST(Walk, ScalarIsOneElementAndEmptyIsNone) {
  EXPECT_EQ(visits(simplified({2, 3, {}})), (Visits{{2, 3}}));
  EXPECT_EQ(visits(simplified({2, 3, {{1, 8, 8}}})), (Visits{{2, 3}}));
  EXPECT_TRUE((Box{0, 0, {{3, 1, 1}, {0, 1, 1}}}.empty()));
  EXPECT_FALSE(Box{}.empty());
}

}  // namespace
}  // namespace millrace::tensor
