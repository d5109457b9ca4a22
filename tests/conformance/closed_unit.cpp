// A closed unit says CLOSED to whatever needs it.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(closed_unit) {
  EventFd fd;
  Unit unit = make_unit();
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  const JobId last = unit.last_submitted();
  unit.close();
  const std::vector<JobArgs> several(2, args(0));
  std::vector<Job> jobs(2);
  EXPECT_STATUS(unit.submit(model(), args(0)).status(), kClosed);
  EXPECT_STATUS(unit.try_submit(model(), args(0)).status(), kClosed);
  EXPECT_STATUS(unit.submit_until(kNoDeadline, model(), args(0)).status(), kClosed);
  EXPECT_STATUS(unit.try_submit_n(model(), several, jobs).status(), kClosed);
  EXPECT_STATUS(unit.submit_n(model(), several, jobs), kClosed);
  EXPECT_STATUS(unit.execute(model(), args(0)), kClosed);
  EXPECT_STATUS(unit.wait_free(1, kPatience), kClosed);
  EXPECT_STATUS(unit.reset(), kClosed);
  EXPECT_EQ(unit.last_submitted(), last);
  EXPECT_EQ(unit.last_completed(), last);
  EXPECT_TRUE(unit.is_completed(last));
  EXPECT_EQ(unit.in_flight(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
