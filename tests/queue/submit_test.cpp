// Submitting: sequence ids without gaps, order, and a full unit that changes nothing.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using ::testing::HasSubstr;

TEST(Submit, IdsCarryTheUnitAndCountWithoutGaps) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 4);
  EXPECT_NE(unit->id(), 0);
  EXPECT_EQ(counter_of(unit->last_submitted()), 0u);
  EXPECT_EQ(counter_of(unit->last_completed()), 0u);
  for (uint64_t expected = 1; expected <= 100; ++expected) {
    const Result<SequenceId> id = submit(*unit, nothing);
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(unit_of(*id), unit->id());
    EXPECT_EQ(counter_of(*id), expected);
    EXPECT_EQ(unit->last_submitted(), *id);
    ASSERT_TRUE(unit->wait(*id, kForever).ok());
    EXPECT_EQ(unit->last_completed(), *id);
  }
}

TEST(Submit, FullUnitRefusesAndChangesNothing) {
  Lanes lanes({.count = 1});
  test::TaskGate gate;
  const auto unit = make_unit(lanes, 2);
  const auto held = [&](LaneId) {
    gate.pass();
    return Status();
  };
  ASSERT_TRUE(submit(*unit, held).ok());
  const SequenceId second = *submit(*unit, held);
  EXPECT_EQ(unit->in_flight(), 2u);

  bool filled = false;
  const Result<SequenceId> refused = unit->submit([&](Task&) { filled = true; });
  EXPECT_EQ(refused.status().code(), StatusCode::kQueueFull);
  EXPECT_THAT(refused.status().message(), HasSubstr("2 requests"));
  EXPECT_FALSE(filled);
  EXPECT_EQ(unit->last_submitted(), second);
  EXPECT_EQ(unit->in_flight(), 2u);

  gate.open();
  ASSERT_TRUE(unit->wait(second, kForever).ok());
  EXPECT_EQ(unit->in_flight(), 0u);
  EXPECT_EQ(*submit(*unit, nothing), second + 1);
}

TEST(Submit, SlotIsFreeOnceItsRequestIsSeenCompleted) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  for (int i = 0; i < 2000; ++i) {
    const Result<SequenceId> id = submit(*unit, nothing);
    ASSERT_TRUE(id.ok()) << id.status().to_string();
    ASSERT_TRUE(unit->wait(*id, kForever).ok());
  }
}

TEST(Submit, RequestsRunInTheOrderOfTheirIds) {
  Lanes lanes({.count = 4});
  const auto unit = make_unit(lanes, 64);
  std::vector<int> order;  // One request runs at a time, and each sees the writes of the last.
  SequenceId last = 0;
  for (int i = 0; i < 64; ++i)
    last = *submit(*unit, [&order, i](LaneId) {
      order.push_back(i);
      return Status();
    });
  ASSERT_TRUE(unit->wait(last, kForever).ok());
  ASSERT_EQ(order.size(), 64u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Submit, TaskMaySubmitToItsOwnUnit) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 2);
  SequenceId inner = 0;
  const SequenceId outer = *submit(*unit, [&](LaneId) {
    inner = *submit(*unit, nothing);
    return Status();
  });
  ASSERT_TRUE(unit->wait(outer, kForever).ok());
  EXPECT_EQ(inner, outer + 1);
  EXPECT_TRUE(unit->wait(inner, kForever).ok());
}

TEST(Submit, ReferencesAreDroppedAfterCompletionAndBeforeTheNextRequestCompletes) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  const auto reference = std::make_shared<int>(0);
  const SequenceId id = *submit(*unit, [reference](LaneId) { return Status(); });
  ASSERT_TRUE(unit->wait(id, kForever).ok());
  ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  EXPECT_EQ(reference.use_count(), 1);
}

TEST(Submit, EachLivingUnitHasAnIdOfItsOwn) {
  Lanes lanes({.count = 1});
  const auto first = make_unit(lanes, 1);
  const auto second = make_unit(lanes, 1);
  EXPECT_NE(first->id(), second->id());
}

TEST(CreateUnit, RefusesWhatItCannotServe) {
  Lanes lanes({.count = 1});
  const auto code = [&](UnitOptions options) {
    return Unit::create(lanes, std::move(options)).status().code();
  };
  EXPECT_EQ(code(function_unit(0)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(function_unit(Unit::kMaxDepth + 1)), StatusCode::kInvalidArgument);
  UnitOptions without_factory = function_unit(1);
  without_factory.make_task = nullptr;
  EXPECT_EQ(code(std::move(without_factory)), StatusCode::kInvalidArgument);
  UnitOptions without_task = function_unit(1);
  without_task.make_task = [] { return nullptr; };
  EXPECT_EQ(code(std::move(without_task)), StatusCode::kInvalidArgument);
  Lanes none({.count = 0});
  EXPECT_EQ(Unit::create(none, function_unit(1)).status().code(), StatusCode::kNoLane);
  EXPECT_TRUE(Unit::create(lanes, function_unit(Unit::kMaxDepth)).ok());
}

}  // namespace
}  // namespace millrace::queue
