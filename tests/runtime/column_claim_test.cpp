// Tests which runners may be on which columns at the same time.
#include "runtime/columns/column_claim.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace millrace::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr bool kShared = false, kExclusive = true;

class ColumnClaimTest : public ::testing::Test {
 protected:
  Result<ColumnClaimPtr> claim(std::optional<uint32_t> start_column, bool exclusive,
                               std::string holder = "another") const {
    return claim_columns(map_, {start_column, exclusive}, std::move(holder));
  }

  const ColumnMap map_{16, {0}};
};

TEST_F(ColumnClaimTest, SharedOnesOverlapAsTheyLike) {
  const auto first = claim(4, kShared), second = claim(4, kShared), third = claim(6, kShared);
  for (const auto* made : {&first, &second, &third})
    EXPECT_TRUE(made->ok()) << made->status().to_string();
}

TEST_F(ColumnClaimTest, NoneOverlapsAnExclusiveOne) {
  const auto held = claim(4, kExclusive, "\"A\" (model \"m\")");
  ASSERT_TRUE(held.ok());
  for (const bool exclusive : {kShared, kExclusive})
    for (const uint32_t start_column : {1u, 4u, 7u}) {
      const Status refused = claim(start_column, exclusive).status();
      EXPECT_EQ(refused.code(), StatusCode::kBusy) << start_column;
      EXPECT_THAT(refused.message(),
                  AllOf(HasSubstr("\"A\" (model \"m\")"), HasSubstr("columns 4 to 7, exclusive")));
    }
  EXPECT_TRUE(claim(0, kExclusive).ok());
  EXPECT_TRUE(claim(8, kShared).ok());
}

TEST_F(ColumnClaimTest, AnExclusiveOneOverlapsNone) {
  const auto held = claim(5, kShared, "A");
  EXPECT_THAT(claim(8, kExclusive).status().message(),
              HasSubstr("columns 8 to 11 cannot be exclusive: A is on columns 5 to 8, shared"));
  EXPECT_TRUE(claim(9, kExclusive).ok());
}

TEST_F(ColumnClaimTest, IsFreeAgainOnceItsHolderIsGone) {
  for (int round = 0; round < 2; ++round) {
    const auto held = claim(4, kExclusive);
    EXPECT_TRUE(held.ok()) << held.status().to_string();
  }
}

TEST_F(ColumnClaimTest, SharedWithoutAColumnIsInTheLastGroupWithoutAnExclusiveOne) {
  const auto first = claim({}, kShared), second = claim({}, kShared);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)->start_column, 12u);
  EXPECT_EQ((*second)->start_column, 12u);
  EXPECT_FALSE(claim(12, kExclusive).ok());
  const auto across = claim(6, kExclusive), third = claim({}, kShared);
  ASSERT_TRUE(across.ok() && third.ok());
  EXPECT_EQ((*third)->start_column, 12u);
}

TEST_F(ColumnClaimTest, SharedWithoutAColumnIsRefusedWhereAllAreExclusive) {
  std::vector<Result<ColumnClaimPtr>> held;
  for (int group = 0; group < 4; ++group) held.push_back(claim({}, kExclusive, "A"));
  EXPECT_THAT(claim({}, kShared).status().message(),
              AllOf(HasSubstr("none of the 4 groups of columns is free to be shared"),
                    HasSubstr("A is on columns 0 to 3, exclusive")));
  held.pop_back();
  EXPECT_TRUE(claim({}, kShared).ok());
}

TEST_F(ColumnClaimTest, ExclusiveAndPlacedFreelyIsInTheFirstGroupWithoutAnybody) {
  const auto shared = claim(0, kShared, "A"), across = claim(5, kShared);
  const auto first = claim({}, kExclusive);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ((*first)->start_column, 12u);
  EXPECT_THAT(
      claim({}, kExclusive).status().message(),
      HasSubstr("none of the 4 groups of columns is free to be exclusive: A is on columns 0 to 3"));
}

TEST_F(ColumnClaimTest, AModelNeedsFourColumns) {
  EXPECT_TRUE(claim(12, kShared).ok());
  const Status refused = claim(13, kShared).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("start column 13 is outside 0 to 12"));
}

TEST_F(ColumnClaimTest, HoldsFromManyThreads) {
  std::array<std::atomic<int>, 16> holders{};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const auto held = claim({}, kExclusive);
        ASSERT_TRUE(held.ok()) << "four threads, four groups: " << held.status().to_string();
        std::atomic<int>& here = holders[(*held)->start_column];
        EXPECT_EQ(here.fetch_add(1), 0);
        here.fetch_sub(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace millrace::runtime
