// Completion callbacks: thread, order, what they may do, and what happens when they throw.
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/log.h"
#include "queue/callbacks/strand.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using ::testing::HasSubstr;

TEST(Callback, RunsOnTheDispatcherNotOnLaneOrSubmitter) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  std::thread::id lane;
  std::promise<std::thread::id> called_on;
  const Result<SequenceId> id = submit(
      *unit,
      [&](LaneId) {
        lane = std::this_thread::get_id();
        return Status();
      },
      [&](SequenceId, const Status&) { called_on.set_value(std::this_thread::get_id()); });
  ASSERT_TRUE(id.ok());
  const std::thread::id callback = called_on.get_future().get();
  EXPECT_NE(callback, lane);
  EXPECT_NE(callback, std::this_thread::get_id());
  std::promise<std::thread::id> dispatcher;
  Strand strand("another");
  ASSERT_TRUE(strand.start().ok());
  strand.post(PreparedCall(
      [&](uint64_t, const Status&) { dispatcher.set_value(std::this_thread::get_id()); }));
  EXPECT_EQ(callback, dispatcher.get_future().get());
}

TEST(Callback, ComesOncePerRequestInTheOrderOfTheUnitWithItsStatus) {
  constexpr uint64_t kRequests = 200;
  Lanes lanes({.count = 2});
  std::vector<Completion> seen;  // written by the dispatcher, read after ~Unit
  SequenceId first = 0;
  {
    const auto unit = make_unit(lanes, kRequests);
    for (uint64_t counter = 1; counter <= kRequests; ++counter) {
      const Status status =
          counter % 3 == 0 ? Status(StatusCode::kIoError, std::to_string(counter)) : Status();
      const Result<SequenceId> id = submit(
          *unit, [status](LaneId) { return status; },
          [&](SequenceId sequence, const Status& status) {
            seen.push_back({sequence, status});
          });
      ASSERT_TRUE(id.ok());
      if (counter == 1) first = *id;
    }
    EXPECT_TRUE(unit->wait(first + 1, kForever).ok());
    EXPECT_TRUE(unit->wait(first + kRequests - 1, kForever).ok());
  }
  ASSERT_EQ(seen.size(), kRequests);
  for (uint64_t i = 0; i < kRequests; ++i) {
    const uint64_t counter = i + 1;
    EXPECT_EQ(seen[i].sequence, first + i);
    EXPECT_EQ(seen[i].status.message(), counter % 3 == 0 ? std::to_string(counter) : "");
  }
}

TEST(Callback, SeesItsRequestAsCompletedAndTheSlotFree) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  std::promise<void> second_done;
  const Result<SequenceId> id = submit(*unit, nothing, [&](SequenceId sequence, const Status&) {
    EXPECT_TRUE(unit->is_completed(sequence));
    EXPECT_TRUE(unit->wait(sequence, kForever).ok());
    EXPECT_TRUE(
        submit(*unit, nothing, [&](SequenceId, const Status&) { second_done.set_value(); }).ok());
  });
  ASSERT_TRUE(id.ok());
  second_done.get_future().wait();
}

TEST(Callback, MayWaitForOtherRequests) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 2);
  const auto other = make_unit(lanes, 2);
  std::promise<Status> waited;
  const Result<SequenceId> id = submit(*unit, nothing, [&](SequenceId, const Status&) {
    const SequenceId mine = *submit(*unit, nothing);
    const SequenceId others =
        *submit(*other, [](LaneId) { return Status(StatusCode::kIoError, "other"); });
    EXPECT_TRUE(unit->wait(mine, kForever).ok());
    waited.set_value(other->wait(others, kForever));
  });
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(waited.get_future().get().code(), StatusCode::kIoError);
}

TEST(Callback, SlowOneDelaysNoRequest) {
  Lanes lanes({.count = 1});
  test::TaskGate gate;
  const auto unit = make_unit(lanes, 4);
  ASSERT_TRUE(submit(*unit, nothing, [&](SequenceId, const Status&) { gate.pass(); }).ok());
  gate.await_arrivals(1);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  gate.open();
}

TEST(Callback, ThrowingIsContainedAndLogged) {
  std::mutex mutex;
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::kError) lines.emplace_back(line);
  });
  bool later_one_called = false;
  {
    Lanes lanes({.count = 1});
    const auto unit = make_unit(lanes, 4);
    ASSERT_TRUE(submit(*unit, nothing, [](SequenceId, const Status&) {
                  throw std::runtime_error("user's mistake");
                }).ok());
    ASSERT_TRUE(submit(*unit, nothing, [](SequenceId, const Status&) { throw 7; }).ok());
    ASSERT_TRUE(
        submit(*unit, nothing, [&](SequenceId, const Status&) { later_one_called = true; }).ok());
  }
  set_log_sink(nullptr);
  EXPECT_TRUE(later_one_called);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("user's mistake"));
}

}  // namespace
}  // namespace millrace::queue
