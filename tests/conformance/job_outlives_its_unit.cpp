// A job's handle answers after its unit and its device are gone.
#include <optional>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(job_outlives_its_unit) {
  EventFd fd;
  LaneBlocker lanes(device_name());
  std::optional<Unit> unit = make_unit();
  Job cancelled = submit(*unit, 0);
  unit.reset();
  drop_device();
  EXPECT_TRUE(cancelled.is_completed());
  EXPECT_STATUS(cancelled.notify_fd(fd.get()), kOk);
  EXPECT_EQ(fd.take(), 1u);
  EXPECT_STATUS(cancelled.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
