// A job's result is collected once; later calls on the handle say INVALID_JOB_ID.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(result_collected_once) {
  EventFd fd;
  Unit unit = make_unit();
  Job job = submit(unit);
  const JobId id = job.id();
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(job.wait(kPatience), kInvalidJobId);
  EXPECT_STATUS(job.wait(std::chrono::nanoseconds(0)), kInvalidJobId);
  EXPECT_STATUS(job.cancel(kPatience).status(), kInvalidJobId);
  EXPECT_STATUS(job.notify_fd(fd.get()), kInvalidJobId);
  EXPECT_TRUE(job.is_completed());
  EXPECT_EQ(job.id(), id);
  EXPECT_TRUE(unit.is_completed(id));
}

}  // namespace
}  // namespace millrace::conformance
