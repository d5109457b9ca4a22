// try_submit_n with arguments of which one fits no job submits none of them.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(bad_argument_among_good_ones) {
  Unit unit = make_unit();
  const JobId last = unit.last_submitted();
  std::vector<JobArgs> wanted(3, args());
  wanted[2].frames = 0;
  std::vector<Job> jobs(3);
  EXPECT_STATUS(unit.try_submit_n(model(), wanted, jobs).status(), kInvalidArgument);
  // The same where the jobs cannot go to the queue in one step.
  wanted[0].callback = [](JobId, const Status&) {};
  EXPECT_STATUS(unit.try_submit_n(model(), wanted, jobs).status(), kInvalidArgument);
  EXPECT_FALSE(jobs[0] || jobs[1] || jobs[2]);
  EXPECT_EQ(unit.last_submitted(), last);
}

}  // namespace
}  // namespace millrace::conformance
