// Lanes that the system has refused for a while are there once it has threads again, and no request
// runs without one.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

#include "tests/queue/function_task.h"
#include "tests/support/gate.h"
#include "tests/support/thread_refusal.h"

namespace millrace::queue {
namespace {

using test::ThreadRefusal;

UnitOptions watched_unit() {
  UnitOptions options = function_unit(2);
  options.watchdog = std::chrono::milliseconds(20);
  options.auto_reset = true;
  return options;
}

SequenceId submit_hanging(Unit& unit, test::TaskGate& gate) {
  const SequenceId id = *submit(unit, [&] {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  return id;
}

TEST(MissingLanes, AreStartedLater) {
  std::unique_ptr<Lanes> lanes;
  {
    const ThreadRefusal refusal;
    lanes = std::make_unique<Lanes>(LanesOptions{.count = 3});
    EXPECT_EQ(lanes->count(), 0u);
    EXPECT_EQ(lanes->fill_up().code(), StatusCode::kResourceExhausted);
  }
  EXPECT_TRUE(lanes->fill_up().ok());
  EXPECT_EQ(lanes->count(), 3u);
}

// The job still hangs when its lane is replaced.
TEST(MissingLanes, AreReplacedWhenTheUnitIsReset) {
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, watched_unit());
  ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());  // the monitor runs
  const SequenceId hung = [&] {
    const ThreadRefusal refusal;
    const SequenceId id = submit_hanging(*unit, gate);
    EXPECT_EQ(unit->wait(id, kForever).code(), StatusCode::kHung);
    EXPECT_EQ(lanes.count(), 0u);
    EXPECT_EQ(unit->reset().code(), StatusCode::kNoLane);
    return id;
  }();
  EXPECT_TRUE(unit->reset().ok());
  EXPECT_EQ(lanes.count(), 1u);
  EXPECT_EQ(lanes.quarantined(), 1u);
  EXPECT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  EXPECT_EQ(unit->wait(hung, kForever).code(), StatusCode::kHung);
  gate.open();
}

// The thread that finds no lane makes all that is queued fail. Meanwhile there are lanes again, and
// the unit is reset as soon as it is degraded.
TEST(MissingLanes, NoRequestRunsWithoutOne) {
  constexpr uint32_t kRequests = 2000;
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  const auto watched = make_unit(lanes, watched_unit());
  ASSERT_TRUE(watched->wait(*submit(*watched, nothing), kForever).ok());  // the monitor runs
  std::optional<ThreadRefusal> refusal(std::in_place);
  std::jthread resets;
  Unit* queued = nullptr;
  const auto reset_from_now_on = [&] {
    refusal.reset();
    EXPECT_TRUE(lanes.fill_up().ok());
    resets = std::jthread([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (queued->state() == UnitState::kDegraded) {
          EXPECT_TRUE(queued->reset().ok());
        }
      }
    });
  };
  const auto unit = make_unit(lanes, function_unit(kRequests, [&](const Completion&) {
                                if (!resets.joinable()) reset_from_now_on();
                                while (queued->state() == UnitState::kDegraded)
                                  std::this_thread::yield();
                              }));
  queued = unit.get();
  ASSERT_EQ(watched->wait(submit_hanging(*watched, gate), kForever).code(), StatusCode::kHung);
  ASSERT_EQ(lanes.count(), 0u);

  std::atomic<uint32_t> without_lane{0};
  const auto count_missing = [&](LaneId lane) {
    without_lane += lane == kNoLane ? 1 : 0;
    return Status();
  };
  const Result<SubmittedRange> range =
      unit->try_submit_n(kRequests, [&](Task& task, uint32_t) { fill_with(count_missing)(task); });
  ASSERT_TRUE(range.ok());
  for (uint32_t i = 0; i < range->count; ++i)
    EXPECT_EQ(unit->wait(range->first + i, kForever).code(), StatusCode::kUnitDegraded);
  EXPECT_EQ(without_lane, 0u);
  resets = {};
  gate.open();
}

TEST(MissingLanes, AreStartedByALaneThatHasNothingToDo) {
  test::TaskGate gate;
  Lanes lanes({.count = 2, .spin = std::chrono::microseconds(0)});
  const auto unit = make_unit(lanes, watched_unit());
  const auto other = make_unit(lanes, 1);
  ASSERT_TRUE(unit->wait(*submit(*unit, nothing), kForever).ok());
  {
    const ThreadRefusal refusal;
    const SequenceId id = submit_hanging(*unit, gate);
    EXPECT_EQ(unit->wait(id, kForever).code(), StatusCode::kHung);
    gate.open();
    while (lanes.quarantined() != 0) std::this_thread::yield();
    EXPECT_EQ(lanes.count(), 1u);
  }
  while (lanes.count() != 2) EXPECT_TRUE(other->wait(*submit(*other, nothing), kForever).ok());
}

}  // namespace
}  // namespace millrace::queue
