// A number that is not an open descriptor cannot be registered.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(unusable_descriptors) {
  EventFd fd;
  const int closed = fd.get();
  fd.close();
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_STATUS(job.notify_fd(closed), kInvalidArgument);
  EXPECT_STATUS(unit.notify_each_fd(closed), kInvalidArgument);
  EXPECT_STATUS(unit.notify_free_fd(1, closed), kInvalidArgument);
  lanes.release();
  EXPECT_STATUS(job.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
