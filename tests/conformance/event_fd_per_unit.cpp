// A unit's eventfd is signalled at every completion, also of removed jobs, until it is
// unregistered.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_per_unit) {
  EventFd fd;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  EXPECT_STATUS(unit.notify_each_fd(fd.get()), kOk);
  Job first = submit(unit, 0), second = submit(unit, 1);
  EXPECT_EQ(fd.take(), 0u);
  EXPECT_EQ(second.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_TRUE(fd.await());
  fd.take();
  lanes.release();
  EXPECT_TRUE(fd.await());
  EXPECT_TRUE(first.is_completed());
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kCancelled);
  EXPECT_TRUE(eventually([&] { return unit.last_completed() == second.id(); }));

  EXPECT_STATUS(unit.notify_each_fd(-1), kOk);
  EXPECT_STATUS(submit(unit, 2).wait(kPatience), kOk);
  fd.take();
  EXPECT_STATUS(submit(unit, 3).wait(kPatience), kOk);
  EXPECT_EQ(fd.take(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
