// An eventfd is signalled once when its job completes, and not before.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_per_job) {
  EventFd fd, shared;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job first = submit(unit, 0), second = submit(unit, 1), third = submit(unit, 2);
  EXPECT_STATUS(first.notify_fd(fd.get()), kOk);
  EXPECT_STATUS(second.notify_fd(shared.get()), kOk);
  EXPECT_STATUS(third.notify_fd(shared.get()), kOk);
  EXPECT_EQ(fd.take(), 0u);
  lanes.release();
  EXPECT_TRUE(fd.await());
  EXPECT_TRUE(first.is_completed());
  for (Job* job : {&first, &second, &third}) EXPECT_STATUS(job->wait(kPatience), kOk);
  unit.close();
  EXPECT_EQ(fd.take(), 1u);
  EXPECT_EQ(shared.take(), 2u);
}

}  // namespace
}  // namespace millrace::conformance
