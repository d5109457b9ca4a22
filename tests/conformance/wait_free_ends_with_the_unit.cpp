// wait_free wakes when the unit closes.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_free_ends_with_the_unit) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1});
  Job job = submit(unit, 0);
  Status waited;
  queue::SleepingThread waiter([&] { waited = unit.wait_free(1, kPatience); });
  waiter.await_sleep();
  unit.close();
  waiter.join();
  EXPECT_STATUS(waited, kClosed);
  EXPECT_STATUS(unit.wait_free(1, kPatience), kClosed);
  EXPECT_STATUS(job.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
