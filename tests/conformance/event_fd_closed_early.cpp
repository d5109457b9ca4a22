// The caller may close its eventfd at any time; a file that gets its number is not written to.
#include <fcntl.h>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(event_fd_closed_early) {
  EventFd fd, copy, each;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_STATUS(job.notify_fd(fd.get()), kOk);
  EXPECT_STATUS(unit.notify_each_fd(each.get()), kOk);
  const int number = fd.get();
  const int kept = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  fd.close();
  each.close();
  EXPECT_EQ(::fcntl(copy.get(), F_DUPFD_CLOEXEC, number), number);
  lanes.release();
  EXPECT_STATUS(job.wait(kPatience), kOk);
  unit.close();
  EXPECT_EQ(copy.take(), 0u);
  uint64_t signalled = 0;
  EXPECT_EQ(::read(kept, &signalled, sizeof signalled), static_cast<ssize_t>(sizeof signalled));
  EXPECT_EQ(signalled, 1u);
  ::close(kept);
  ::close(number);
}

}  // namespace
}  // namespace millrace::conformance
