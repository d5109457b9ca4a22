// When submit_n fails, the jobs before the one that failed were submitted.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(submit_several_fails) {
  Unit unit = make_unit({.depth = 8});
  std::vector<JobArgs> wanted(4, args());
  wanted[2].frames = kBatchSize + 1;
  std::vector<Job> jobs(4);
  EXPECT_STATUS(unit.submit_n(model(), wanted, jobs), kInvalidArgument);
  EXPECT_TRUE(jobs[0]);
  EXPECT_TRUE(jobs[1]);
  EXPECT_FALSE(jobs[2] || jobs[3]);
  for (Job& job : jobs)
    if (job) EXPECT_STATUS(job.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
