// submit_until waits for a free place until its limit, and no longer.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(submit_until_a_limit) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1});
  Job first = submit(unit, 0);
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_STATUS(unit.submit_until(soon, model(), args(1)).status(), kQueueFull);
  EXPECT_GE(std::chrono::steady_clock::now(), soon);
  EXPECT_EQ(unit.last_submitted(), first.id());

  auto second = on_thread([&] { return unit.submit_until(kNoDeadline, model(), args(1)); });
  lanes.release();
  Result<Job> job = second.get();
  EXPECT_STATUS(job.status(), kOk);
  EXPECT_STATUS(job.value().wait(kPatience), kOk);
  EXPECT_STATUS(first.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
