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
  Result<ColumnClaimPtr> claim_many(uint32_t columns, std::optional<uint32_t> start_column,
                                    bool exclusive = kShared) const {
    return claim_columns(map_, {start_column, exclusive, columns}, "another");
  }

  const ColumnMap map_{16, {0}};
};

TEST_F(ColumnClaimTest, SharedOnesTakeTurnsOnTheSameColumns) {
  const auto first = claim(4, kShared, "A"), second = claim(4, kShared), third = claim(4, kShared);
  for (const auto* made : {&first, &second, &third})
    EXPECT_TRUE(made->ok()) << made->status().to_string();
  EXPECT_THAT(claim(6, kShared).status().message(),
              AllOf(HasSubstr("columns 6 to 9 cannot be shared: A is on columns 4 to 7, shared"),
                    HasSubstr("only if they start at the same one and occupy as many")));
  EXPECT_EQ(claim_many(8, 4).status().code(), StatusCode::kBusy);
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

TEST_F(ColumnClaimTest, SharedWithoutAColumnIsRefusedWhereAllAreExclusive) {
  std::vector<Result<ColumnClaimPtr>> held;
  for (int group = 0; group < 4; ++group) held.push_back(claim({}, kExclusive, "A"));
  EXPECT_THAT(claim({}, kShared).status().message(),
              AllOf(HasSubstr("no 4 adjacent columns of the 16 are free, and none can be shared"),
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
      HasSubstr("no 4 adjacent columns of the 16 are free: A is on columns 0 to 3, shared"));
}

TEST_F(ColumnClaimTest, ThoseOfOneOwnerShareExclusiveColumns) {
  const Placement placement{.start_column = 4, .exclusive = true, .owner = new_column_owner()};
  const auto first = claim_columns(map_, placement, "A"),
             second = claim_columns(map_, placement, "B");
  EXPECT_TRUE(first.ok() && second.ok()) << second.status().to_string();
  Placement other = placement;
  other.owner = new_column_owner();
  EXPECT_EQ(claim_columns(map_, other, "C").status().code(), StatusCode::kBusy);
  Placement across = placement;
  across.start_column = 6;
  EXPECT_EQ(claim_columns(map_, across, "D").status().code(), StatusCode::kBusy);
  for (const bool exclusive : {kShared, kExclusive})
    EXPECT_EQ(claim(4, exclusive).status().code(), StatusCode::kBusy) << "without an owner";
}

TEST_F(ColumnClaimTest, ThoseOfOneOwnerShareWhereNoColumnsAreFree) {
  const auto around = claim_many(12, 4);
  const Placement placement{.exclusive = true, .owner = new_column_owner()};
  const auto first = claim_columns(map_, placement, "A"),
             second = claim_columns(map_, placement, "B");
  ASSERT_TRUE(first.ok() && second.ok()) << second.status().to_string();
  EXPECT_EQ((*second)->start_column, (*first)->start_column);
}

TEST_F(ColumnClaimTest, AModelNeedsItsColumns) {
  EXPECT_TRUE(claim(12, kShared).ok());
  const Status refused = claim(13, kShared).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("start column 13 is outside 0 to 12"));
  EXPECT_TRUE(claim_many(8, 8).ok());
  EXPECT_THAT(claim_many(8, 9).status().message(),
              HasSubstr("start column 9 is outside 0 to 8: the model takes 8 of the 16 columns"));
  EXPECT_TRUE(claim_many(16, {}).ok());
  for (const std::optional<uint32_t> start_column : {std::optional<uint32_t>(), {0}}) {
    const Status too_many = claim_many(20, start_column).status();
    EXPECT_EQ(too_many.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(too_many.message(), HasSubstr("takes 20 columns, but there are 16"));
  }
}

// The board's policy for models without a start column, by the examples of its documentation. A row
// is a model that is placed while those above it stay.
struct PlacedModel {
  uint32_t tp_size, dp_size;
  std::optional<uint32_t> start_column;  // where it is placed; none: it is refused
};

class AutoPlacement : public ::testing::TestWithParam<std::vector<PlacedModel>> {};

TEST_P(AutoPlacement, PlacesModelsAsTheBoardDoes) {
  const ColumnMap map(36, {0});
  std::vector<ColumnClaimPtr> held;
  for (const PlacedModel& model : GetParam()) {
    SCOPED_TRACE(held.size() + 1);
    Result<ColumnClaimPtr> claim = claim_columns(
        map, {.columns = model.tp_size * model.dp_size * kColumnsPerGroup}, "another");
    ASSERT_EQ(claim.ok(), model.start_column.has_value()) << claim.status().to_string();
    if (!claim.ok()) {
      EXPECT_EQ(claim.status().code(), StatusCode::kBusy);
      continue;
    }
    EXPECT_EQ((*claim)->start_column, model.start_column);
    held.push_back(*std::move(claim));
  }
}

using Models = std::vector<PlacedModel>;
INSTANTIATE_TEST_SUITE_P(
    Policy, AutoPlacement,
    ::testing::Values(
        // Free columns first; then those of a model that occupies as many.
        Models{{1, 1, 0}, {4, 1, 4}, {4, 1, 20}, {1, 1, 0}},
        Models{{1, 1, 0}, {6, 1, 4}, {1, 2, 28}, {1, 2, 28}, {6, 1, 4}, {1, 1, 0}},
        // The product of the sizes decides, not the sizes.
        Models{{2, 2, 0}, {4, 1, 16}, {1, 1, 32}, {1, 4, 0}, {1, 4, 16}},
        // Models that share are spread over the places that they can share.
        Models{{4, 1, 0}, {4, 1, 16}, {1, 1, 32}, {4, 1, 0}, {4, 1, 16}, {4, 1, 0}},
        // All columns are taken, and no model occupies as many.
        Models{{1, 1, 0}, {1, 2, 4}, {1, 2, 12}, {1, 2, 20}, {1, 2, 28}, {4, 1, {}}, {1, 1, 0}},
        // Four columns are free, but the model occupies eight.
        Models{{4, 1, 0}, {4, 1, 16}, {2, 1, {}}, {1, 1, 32}}));

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
