// A negative descriptor removes a job's eventfd; a later one replaces it.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_unregistered) {
  EventFd removed, replaced, last;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job first = submit(unit, 0), second = submit(unit, 1);
  EXPECT_STATUS(first.notify_fd(-1), kOk);
  EXPECT_STATUS(first.notify_fd(removed.get()), kOk);
  EXPECT_STATUS(first.notify_fd(-1), kOk);
  EXPECT_STATUS(second.notify_fd(replaced.get()), kOk);
  EXPECT_STATUS(second.notify_fd(last.get()), kOk);
  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  unit.close();
  EXPECT_EQ(removed.take(), 0u);
  EXPECT_EQ(replaced.take(), 0u);
  EXPECT_EQ(last.take(), 1u);
}

}  // namespace
}  // namespace millrace::conformance
