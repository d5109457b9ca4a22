// Waiting and polling: timeouts, unknown ids, several waiters, before and after completion.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/queue/sleeping_thread.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

UnitOptions parking_unit(uint32_t depth) {
  UnitOptions options = function_unit(depth);
  options.wait_spin = options.wait_spin.zero();
  return options;
}

class HeldUnit : public ::testing::Test {
 protected:
  SequenceId submit_held(Status status = {}) {
    return *submit(*unit, [this, status](LaneId) {
      gate.pass();
      return status;
    });
  }

  test::TaskGate gate;
  Lanes lanes{{.count = 1}};
  std::unique_ptr<Unit> unit = make_unit(lanes, parking_unit(4));
};

TEST_F(HeldUnit, WaitGivesPendingWhenTheTimePasses) {
  const SequenceId id = submit_held();
  EXPECT_EQ(unit->wait(id, milliseconds(2)).code(), StatusCode::kPending);
  EXPECT_EQ(unit->wait(id, nanoseconds(1)).code(), StatusCode::kPending);
  gate.open();
  EXPECT_TRUE(unit->wait(id, kForever).ok());
}

TEST_F(HeldUnit, ZeroAndNegativeTimeoutsPoll) {
  const SequenceId id = submit_held();
  EXPECT_EQ(unit->wait(id, nanoseconds(0)).code(), StatusCode::kPending);
  EXPECT_EQ(unit->wait(id, nanoseconds(-1)).code(), StatusCode::kPending);
  EXPECT_FALSE(unit->is_completed(id));
  gate.open();
  ASSERT_TRUE(unit->wait(id, nanoseconds::max()).ok());
  EXPECT_TRUE(unit->is_completed(id));
  EXPECT_TRUE(unit->wait(id, nanoseconds(0)).ok());
  EXPECT_TRUE(unit->wait(id, nanoseconds::min()).ok());
}

TEST_F(HeldUnit, ParkedThreadsOnOneIdAllGetTheStatus) {
  const SequenceId id = submit_held(Status(StatusCode::kIoError, "the disk is gone"));
  std::array<Status, 3> seen;
  {
    std::vector<std::unique_ptr<SleepingThread>> threads;
    for (Status& status : seen)
      threads.push_back(
          std::make_unique<SleepingThread>([&] { status = unit->wait(id, kForever); }));
    for (const auto& thread : threads) thread->await_sleep();
    gate.open();
  }
  for (const Status& status : seen) EXPECT_EQ(status.to_string(), "IO_ERROR: the disk is gone");
}

TEST_F(HeldUnit, ParkedThreadsWakeForTheIdTheyWaitFor) {
  test::TaskGate second_gate;
  const SequenceId first = submit_held();
  const SequenceId second = *submit(*unit, [&](LaneId) {
    second_gate.pass();
    return Status();
  });
  // The later id is waited for first, so that order of arrival and order of ids differ.
  SleepingThread late([&] { EXPECT_TRUE(unit->wait(second, kForever).ok()); });
  late.await_sleep();
  SleepingThread early([&] { EXPECT_TRUE(unit->wait(first, kForever).ok()); });
  early.await_sleep();
  gate.open();
  early.join();
  EXPECT_FALSE(unit->is_completed(second));
  second_gate.open();
  late.join();
}

TEST_F(HeldUnit, TimedOutThreadLeavesTheOthersWaiting) {
  const SequenceId id = submit_held();
  SleepingThread patient([&] { EXPECT_TRUE(unit->wait(id, kForever).ok()); });
  patient.await_sleep();
  EXPECT_EQ(unit->wait(id, milliseconds(1)).code(), StatusCode::kPending);
  gate.open();
}

TEST(Wait, MayBeRepeatedAfterCompletion) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  const SequenceId id =
      *submit(*unit, [](LaneId) { return Status(StatusCode::kCorruptData, "bad"); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(unit->wait(id, kForever).to_string(), "CORRUPT_DATA: bad");
}

TEST(Wait, SaysThatAnIdWasNeverIssued) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  const auto other = make_unit(lanes, 1);
  const SequenceId id = *submit(*unit, nothing);
  const SequenceId of_other_unit = *submit(*other, nothing);
  ASSERT_TRUE(unit->wait(id, kForever).ok());
  for (const SequenceId unknown : {SequenceId{0}, id - 1, id + 1, of_other_unit}) {
    EXPECT_EQ(unit->wait(unknown, kForever).code(), StatusCode::kInvalidJobId) << unknown;
    EXPECT_FALSE(unit->is_completed(unknown)) << unknown;
  }
}

TEST(Wait, RemembersTheLast65536RequestsAndSaysThatOlderOnesAreTooOld) {
  constexpr uint64_t kRequests = 65'536 + 10;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 256);
  const auto work = [](bool fails) {
    return [fails](LaneId) { return fails ? Status(StatusCode::kIoError, "odd") : Status(); };
  };
  for (uint64_t counter = 1; counter <= kRequests;)
    if (submit(*unit, work(counter % 2 == 1)).ok()) ++counter;
  const SequenceId last = unit->last_submitted();
  ASSERT_TRUE(unit->wait(last, kForever).ok());
  const SequenceId oldest = last - 65'535;
  EXPECT_EQ(unit->wait(oldest, nanoseconds(0)).code(), StatusCode::kIoError);
  EXPECT_TRUE(unit->wait(oldest + 1, nanoseconds(0)).ok());
  EXPECT_EQ(unit->wait(oldest - 1, nanoseconds(0)).code(), StatusCode::kInvalidJobId);
  EXPECT_EQ(unit->wait(last - kRequests + 1, nanoseconds(0)).code(), StatusCode::kInvalidJobId);
  EXPECT_TRUE(unit->is_completed(oldest - 1));
}

}  // namespace
}  // namespace millrace::queue
