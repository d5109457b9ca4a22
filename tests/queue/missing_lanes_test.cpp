// Lanes that the system has refused for a while are there once it has threads again.
#include <gtest/gtest.h>

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
