// Steady state allocates nothing: a program of its own, because it counts every operator new.
#include <gtest/gtest.h>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/counting_new.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

class AllocationFreeSpinning : public ::testing::TestWithParam<std::chrono::microseconds> {};

TEST_P(AllocationFreeSpinning, SubmitRunAndWait) {
  Lanes lanes({.count = 2, .spin = GetParam()});
  UnitOptions options = function_unit(2);
  options.wait_spin = GetParam();
  const auto unit = make_unit(lanes, std::move(options));
  const auto other = make_unit(lanes, 2);
  const auto round = [&] {
    const Result<SequenceId> first = submit(*unit, nothing);
    const Result<SequenceId> second = submit(*unit, nothing);
    const Result<SequenceId> elsewhere = submit(*other, nothing);
    return first.ok() && second.ok() && elsewhere.ok() && unit->wait(*second, kForever).ok() &&
           other->wait(*elsewhere, kForever).ok();
  };
  ASSERT_TRUE(round());
  const size_t before = test::allocation_count();
  bool all_ok = true;
  for (int i = 0; i < 1000; ++i) all_ok &= round();
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_TRUE(all_ok);
}

INSTANTIATE_TEST_SUITE_P(Spin, AllocationFreeSpinning,
                         ::testing::Values(std::chrono::microseconds(0),
                                           std::chrono::microseconds(20)));

TEST(AllocationFree, RefusalAndPoll) {
  test::TaskGate gate;  // outlives the unit, whose lane may still be leaving it
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  const SequenceId id = *submit(*unit, [&](LaneId) {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  const size_t before = test::allocation_count();
  const StatusCode refused = submit(*unit, nothing).status().code();
  const StatusCode polled = unit->wait(id, std::chrono::nanoseconds(0)).code();
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(refused, StatusCode::kQueueFull);
  EXPECT_EQ(polled, StatusCode::kPending);
  gate.open();
}

}  // namespace
}  // namespace millrace::queue
