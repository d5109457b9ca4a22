// Destroying a unit with requests in flight: no thread hangs, nothing is lost, nothing runs late.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/queue/sleeping_thread.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

TEST(Destroy, QueuedRequestsAreCancelledAndTheRunningOneFinishes) {
  Lanes lanes({.count = 1});
  test::TaskGate gate;
  std::vector<Completion> listened;
  std::vector<Completion> called;
  bool second_ran = false;
  UnitOptions options =
      function_unit(2, [&](const Completion& completion) { listened.push_back(completion); });
  auto unit = make_unit(lanes, std::move(options));
  const auto record = [&](SequenceId sequence, const Status& status) {
    called.push_back({sequence, status});
  };
  // Ends only when the destruction has begun, which refuses new requests.
  ASSERT_TRUE(submit(
                  *unit,
                  [&, raw = unit.get()](LaneId) {
                    gate.pass();
                    while (submit(*raw, nothing).status().code() != StatusCode::kClosed)
                      std::this_thread::yield();
                    return Status();
                  },
                  record)
                  .ok());
  ASSERT_TRUE(submit(
                  *unit,
                  [&](LaneId) {
                    second_ran = true;
                    return Status();
                  },
                  record)
                  .ok());
  gate.await_arrivals(1);
  gate.open();
  unit.reset();
  ASSERT_EQ(listened.size(), 2u);
  ASSERT_EQ(called.size(), 2u);
  for (const auto* seen : {&listened, &called}) {
    EXPECT_TRUE((*seen)[0].status.ok());
    EXPECT_EQ((*seen)[1].status.code(), StatusCode::kCancelled);
    EXPECT_EQ((*seen)[1].sequence, (*seen)[0].sequence + 1);
  }
  EXPECT_FALSE(second_ran);
}

TEST(Destroy, AfterBeginCloseNothingIsAcceptedOrStarted) {
  Lanes lanes({.count = 1});
  test::TaskGate gate;
  auto unit = make_unit(lanes, 2);
  bool second_ran = false;
  const SequenceId running = *submit(*unit, [&](LaneId) {
    gate.pass();
    return Status();
  });
  const SequenceId waiting = *submit(*unit, [&](LaneId) {
    second_ran = true;
    return Status();
  });
  gate.await_arrivals(1);
  unit->begin_close();
  EXPECT_EQ(submit(*unit, nothing).status().code(), StatusCode::kClosed);
  EXPECT_EQ(unit->execute([](Task&) { ADD_FAILURE() << "the unit is closed"; }).code(),
            StatusCode::kClosed);
  gate.open();
  EXPECT_TRUE(unit->wait(running, std::chrono::minutes(5)).ok());
  EXPECT_FALSE(unit->is_completed(waiting)) << "close() cancels it";
  unit->close();
  EXPECT_EQ(unit->wait(waiting, {}).code(), StatusCode::kCancelled);
  EXPECT_FALSE(second_ran);
}

TEST(Destroy, WakesEveryParkedWaiter) {
  Lanes lanes({.count = 1});
  test::TaskGate gate;
  UnitOptions options = function_unit(2);
  options.wait_spin = options.wait_spin.zero();
  auto unit = make_unit(lanes, std::move(options));
  const SequenceId running = *submit(*unit, [&, raw = unit.get()](LaneId) {
    gate.pass();
    while (submit(*raw, nothing).status().code() != StatusCode::kClosed) std::this_thread::yield();
    return Status(StatusCode::kIoError, "finished");
  });
  gate.await_arrivals(1);
  const SequenceId queued = *submit(*unit, nothing);
  Unit* raw = unit.get();
  Status of_running;
  Status of_queued;
  SleepingThread first([&] { of_running = raw->wait(running, kForever); });
  SleepingThread second([&] { of_queued = raw->wait(queued, kForever); });
  first.await_sleep();
  second.await_sleep();
  gate.open();
  unit.reset();
  first.join();
  second.join();
  EXPECT_EQ(of_running.code(), StatusCode::kIoError);
  EXPECT_EQ(of_queued.code(), StatusCode::kCancelled);
}

TEST(Destroy, NeedsNoFreeLane) {
  Lanes lanes({.count = 1});
  const auto busy = make_unit(lanes, 1);
  std::atomic<int> cancelled{0};
  UnitOptions options = function_unit(3, [&](const Completion& completion) {
    if (completion.status.code() == StatusCode::kCancelled) ++cancelled;
  });
  auto victim = make_unit(lanes, std::move(options));
  test::TaskGate gate;
  const SequenceId id = *submit(*busy, [&](LaneId) {
    gate.pass();
    victim.reset();  // On the only lane.
    return Status();
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*victim, nothing).ok());
  gate.open();
  ASSERT_TRUE(busy->wait(id, kForever).ok());
  EXPECT_EQ(cancelled, 3);
}

TEST(Destroy, CallbackOfAnotherUnitMayDestroy) {
  Lanes lanes({.count = 1});
  const auto keeper = make_unit(lanes, 1);
  auto victim = make_unit(lanes, 1);
  test::TaskGate destroyed;
  ASSERT_TRUE(submit(*victim, nothing, [](SequenceId, const Status&) {}).ok());
  ASSERT_TRUE(submit(*keeper, nothing, [&](SequenceId, const Status&) {
                victim.reset();
                destroyed.open();
              }).ok());
  destroyed.pass();
  EXPECT_EQ(victim, nullptr);
}

TEST(Destroy, DropsWhatTheTasksReferTo) {
  Lanes lanes({.count = 1});
  const auto reference = std::make_shared<int>(0);
  test::TaskGate gate;
  {
    const auto busy = make_unit(lanes, 1);
    auto unit = make_unit(lanes, 4);
    ASSERT_TRUE(submit(*busy, [&](LaneId) {
                  gate.pass();
                  return Status();
                }).ok());
    gate.await_arrivals(1);
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(submit(
                      *unit, [reference](LaneId) { return Status(); },
                      [reference](SequenceId, const Status&) {})
                      .ok());
    unit.reset();
    EXPECT_EQ(reference.use_count(), 1);
    gate.open();
  }
}

TEST(Destroy, AtAnyMomentCompletesEveryRequestExactlyOnce) {
  Lanes lanes({.count = 2});
  for (int round = 0; round < 500; ++round) {
    std::map<SequenceId, int> listened;
    std::map<SequenceId, int> called;
    UnitOptions options =
        function_unit(8, [&](const Completion& completion) { ++listened[completion.sequence]; });
    auto unit = make_unit(lanes, std::move(options));
    std::vector<SequenceId> issued;
    for (int i = 0; i < round % 8; ++i)
      issued.push_back(
          *submit(*unit, nothing, [&](SequenceId sequence, const Status&) { ++called[sequence]; }));
    unit.reset();
    ASSERT_EQ(listened.size(), issued.size());
    ASSERT_EQ(called.size(), issued.size());
    for (const SequenceId id : issued) {
      ASSERT_EQ(listened[id], 1);
      ASSERT_EQ(called[id], 1);
    }
  }
}

}  // namespace
}  // namespace millrace::queue
