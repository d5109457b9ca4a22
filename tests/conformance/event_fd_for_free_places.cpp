// notify_free_fd signals an eventfd when k places are free, at once if they are already.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_for_free_places) {
  EventFd fd;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2});
  EXPECT_STATUS(unit.notify_free_fd(3, fd.get()), kInvalidArgument);
  EXPECT_STATUS(unit.notify_free_fd(2, fd.get()), kOk);
  EXPECT_EQ(fd.take(), 1u);

  Job first = submit(unit, 0), second = submit(unit, 1);
  EXPECT_STATUS(unit.notify_free_fd(1, fd.get()), kOk);
  EXPECT_EQ(fd.take(), 0u);
  EXPECT_STATUS(second.cancel(kPatience).status(), kOk);
  EXPECT_TRUE(fd.await());
  EXPECT_STATUS(unit.wait_free(1, std::chrono::nanoseconds(0)), kOk);

  EXPECT_STATUS(unit.notify_free_fd(1, -1), kOk);
  fd.take();
  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  unit.close();
  EXPECT_EQ(fd.take(), 0u);
  EXPECT_STATUS(second.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
