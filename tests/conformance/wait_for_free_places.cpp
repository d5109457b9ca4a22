// wait_free waits until k places are free.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_for_free_places) {
  using std::chrono::milliseconds;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2});
  EXPECT_STATUS(unit.wait_free(2, milliseconds(0)), kOk);
  Job first = submit(unit, 0);
  EXPECT_STATUS(unit.wait_free(1, milliseconds(0)), kOk);
  EXPECT_STATUS(unit.wait_free(2, milliseconds(5)), kDeadlineExceeded);
  EXPECT_STATUS(unit.wait_free(3, kPatience), kInvalidArgument);
  Status waited;
  queue::SleepingThread waiter([&] { waited = unit.wait_free(2, kPatience); });
  waiter.await_sleep();
  lanes.release();
  waiter.join();
  EXPECT_STATUS(waited, kOk);
  EXPECT_TRUE(first.is_completed());
  EXPECT_STATUS(first.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
