// submit_n submits all jobs in order and waits for free places.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(submit_several) {
  constexpr size_t kJobs = 20;
  Unit unit = make_unit({.depth = 2});
  const std::vector<JobArgs> wanted(kJobs, args());
  std::vector<Job> jobs(kJobs);
  EXPECT_STATUS(unit.submit_n(model(), wanted, jobs), kOk);
  for (size_t i = 0; i < kJobs; ++i) {
    EXPECT_EQ(jobs[i].id(), jobs[0].id() + i);
    EXPECT_STATUS(jobs[i].wait(kPatience), kOk);
  }
}

}  // namespace
}  // namespace millrace::conformance
