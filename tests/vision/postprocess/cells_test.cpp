#include "vision/postprocess/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::HasSubstr;

CellLayout layout(const std::vector<uint32_t>& shape, const std::string& name) {
  const auto result = cell_layout(shape, name);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : CellLayout{};
}

std::string refusal(const std::vector<uint32_t>& shape, const std::string& name) {
  const auto result = cell_layout(shape, name);
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(Cells, ElementOfAChannelLiesWhereTheLayoutSays) {
  // Cell 4 of 2 x 3 is row 1, column 1; channel 2 of 5.
  EXPECT_EQ(layout({1, 5, 2, 3}, "NCHW").at(4, 2), 2U * 6 + 4);
  EXPECT_EQ(layout({1, 2, 3, 5}, "NHWC").at(4, 2), 4U * 5 + 2);
  EXPECT_EQ(layout({1, 5, 6}, "NCH").at(4, 2), 2U * 6 + 4);
  EXPECT_EQ(layout({1, 6, 5}, "NHC").at(4, 2), 4U * 5 + 2);
}

TEST(Cells, LeadingOneMayBeMissing) {
  const CellLayout map = layout({5, 2, 3}, "NCHW");
  EXPECT_TRUE(map.is_map);
  EXPECT_EQ(map.channels, 5U);
  EXPECT_EQ(map.rows, 2U);
  EXPECT_EQ(map.columns, 3U);
  EXPECT_FALSE(layout({6, 5}, "NHC").is_map);
}

TEST(Cells, WhatIsNoFrameOfTheLayoutIsRefused) {
  EXPECT_THAT(refusal({1, 2, 3, 4, 5}, "HCWNC4"), HasSubstr("\"HCWNC4\""));
  EXPECT_THAT(refusal({2, 6, 5}, "NHC"), HasSubstr("[2, 6, 5]"));
  EXPECT_THAT(refusal({6, 5}, "NCHW"), HasSubstr("[6, 5]"));
  EXPECT_THAT(refusal({5}, "NHC"), HasSubstr("[5]"));
  EXPECT_THAT(refusal({}, "NHC"), HasSubstr("[]"));
  EXPECT_THAT(refusal({1, 0, 5}, "NHC"), HasSubstr("no elements"));
  EXPECT_THAT(refusal({1, 65536, 65536}, "NHC"), HasSubstr("too many"));
}

}  // namespace
}  // namespace millrace::vision
