// An eventfd that is registered after the completion is signalled at once.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_after_completion) {
  EventFd fd;
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_TRUE(eventually([&] { return job.is_completed(); }));
  EXPECT_STATUS(job.notify_fd(fd.get()), kOk);
  EXPECT_EQ(fd.take(), 1u);
  EXPECT_STATUS(job.notify_fd(fd.get()), kOk);
  EXPECT_EQ(fd.take(), 1u);
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(job.notify_fd(fd.get()), kInvalidJobId);
  EXPECT_EQ(fd.take(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
