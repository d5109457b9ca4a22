// execute waits for a free place where other calls return QUEUE_FULL.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_waits_for_a_place) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kFail});
  Job first = submit(unit, 0);
  EXPECT_STATUS(unit.submit(model(), args(1)).status(), kQueueFull);
  Status executed;
  queue::SleepingThread caller([&] { executed = unit.execute(model(), args(1)); });
  caller.await_sleep();
  EXPECT_EQ(unit.last_submitted(), first.id());
  lanes.release();
  caller.join();
  EXPECT_STATUS(executed, kOk);
  EXPECT_STATUS(first.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
