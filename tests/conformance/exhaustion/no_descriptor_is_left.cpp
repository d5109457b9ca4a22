// Without a free descriptor an eventfd cannot be registered, and nothing else changes.
#include <sys/resource.h>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_descriptor_is_left) {
  EventFd fd;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_STATUS(job.notify_fd(fd.get()), kOk);
  rlimit before{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(0), before.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status of_job = job.notify_fd(fd.get());
  const Status of_unit = unit.notify_each_fd(fd.get());
  const Status of_room = unit.notify_free_fd(1, fd.get());
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_STATUS(of_job, kInvalidArgument);
  EXPECT_STATUS(of_unit, kInvalidArgument);
  EXPECT_STATUS(of_room, kInvalidArgument);
  lanes.release();
  EXPECT_STATUS(job.wait(kPatience), kOk);
  unit.close();
  // The registration from before stands.
  EXPECT_EQ(fd.take(), 1u);
}

}  // namespace
}  // namespace millrace::conformance
