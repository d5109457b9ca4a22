#include "tensor/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::tensor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Layout, NumbersAndTextsAreThoseOfTheApi) {
  EXPECT_EQ(static_cast<int>(Layout::kHcwnc4), 12);
  EXPECT_EQ(static_cast<int>(Layout::kGeneric), 19);
  EXPECT_EQ(to_string(Layout::kHcwnc16), "HCWNC16");
  EXPECT_EQ(to_string(static_cast<Layout>(99)), "UNKNOWN");
}

TEST(Layout, OnlyHcwncHasBlocks) {
  for (int i = 0; i < kLayoutCount; ++i) {
    const auto layout = static_cast<Layout>(i);
    const bool blocked = to_string(layout).substr(0, 5) == "HCWNC";
    EXPECT_EQ(channel_block(layout) != 0, blocked) << to_string(layout);
  }
  EXPECT_EQ(channel_block(Layout::kHcwnc4), 4u);
  EXPECT_EQ(channel_block(Layout::kHcwnc8), 8u);
  EXPECT_EQ(channel_block(Layout::kHcwnc16), 16u);
}

TEST(Layout, PlainLayoutsAreOrders) {
  EXPECT_THAT(plain_order(Layout::kNhwc), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(plain_order(Layout::kNwc), ElementsAre(0, 2, 1));
  EXPECT_THAT(plain_order(Layout::kNhw), ElementsAre(0, 1, 2));
  EXPECT_THAT(plain_order(Layout::kNc), ElementsAre(0, 1));
  for (const Layout layout : {Layout::kGeneric, Layout::kHcwnc4, Layout::kNhwc4, Layout::kUnknown})
    EXPECT_THAT(plain_order(layout), IsEmpty()) << to_string(layout);
}

TEST(Layout, ParsesItsOwnText) {
  for (int i = 1; i < kLayoutCount; ++i) {
    const auto parsed = parse_layout(to_string(static_cast<Layout>(i)));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(static_cast<int>(*parsed), i);
  }
  const auto parsed = parse_layout("NCWH");
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(parsed.status().message(), testing::HasSubstr("\"NCWH\" is no layout"));
}

}  // namespace
}  // namespace millrace::tensor
