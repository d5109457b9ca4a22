// Waiting for room in a unit whose next cell is still in use: behind a request that waits, those
// that were removed keep their cells.
#include <gtest/gtest.h>

#include <memory>

#include "queue/units/unit.h"
#include "tests/api/event_fd.h"
#include "tests/queue/function_task.h"
#include "tests/queue/sleeping_thread.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

// One lane, which is held; a unit of depth 2 with a request that waits for the lane, and no cell.
class WithoutACell : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(submit(*holder, [this] { return pass(lane); }).ok());
    lane.await_arrivals(1);
    ASSERT_TRUE(submit(*unit, [this] { return pass(running); }).ok());
    Result<SequenceId> more = submit(*unit, nothing);
    for (; more.ok(); more = submit(*unit, nothing))
      ASSERT_TRUE(unit->cancel(*more, kForever).ok());
    ASSERT_EQ(unit->in_flight(), 1u);
  }
  void TearDown() override {
    lane.open();
    running.open();
  }
  static Status pass(test::TaskGate& gate) {
    gate.pass();
    return {};
  }

  test::TaskGate lane, running;
  Lanes lanes{{.count = 1}};
  std::unique_ptr<Unit> holder = make_unit(lanes, 1);
  std::unique_ptr<Unit> unit = make_unit(lanes, 2);
};

TEST_F(WithoutACell, ThereIsNoRoomThoughAPlaceIsFree) {
  EXPECT_EQ(unit->wait_free(1, std::chrono::nanoseconds(0)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(submit(*unit, nothing).status().code(), StatusCode::kQueueFull);
}

TEST_F(WithoutACell, TheStartOfTheRequestWakesWhoWaitsForRoom) {
  Status waited;
  SleepingThread waiter([&] { waited = unit->wait_free(1, kForever); });
  waiter.await_sleep();
  lane.open();
  waiter.join();
  EXPECT_TRUE(waited.ok()) << waited.to_string();
  EXPECT_TRUE(submit(*unit, nothing).ok());
}

TEST_F(WithoutACell, TheStartOfTheRequestTellsTheEventFd) {
  const test::EventFd fd;
  ASSERT_TRUE(unit->notify_free_fd(1, fd.fd()).ok());
  EXPECT_EQ(fd.take(), 0u);
  lane.open();
  EXPECT_EQ(fd.await(), 1u);
  EXPECT_TRUE(submit(*unit, nothing).ok());
}

}  // namespace
}  // namespace millrace::queue
