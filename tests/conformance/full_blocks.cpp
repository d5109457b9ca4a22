// WhenFull::kBlock: submit waits until a place is free.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_blocks) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kBlock});
  Job first = submit(unit, 0);
  Job second;
  queue::SleepingThread submitter([&] { second = submit(unit, 1); });
  submitter.await_sleep();
  EXPECT_EQ(unit.last_submitted(), first.id());
  lanes.release();
  submitter.join();
  EXPECT_EQ(second.id(), first.id() + 1);
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
