// Jobs start and complete in the order of submission, from whichever threads they come.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(order_of_submission) {
  constexpr size_t kJobs = 100;
  HookGate starts(HookPoint::kStarted), ends(HookPoint::kCompleted);
  Unit unit = make_unit({.depth = kJobs});
  std::vector<Job> jobs;
  std::vector<JobId> ids;
  for (size_t i = 0; i < kJobs; ++i) {
    jobs.push_back(submit(unit));
    ids.push_back(jobs.back().id());
  }
  for (Job& job : jobs) EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(starts.ids(), ids);
  EXPECT_EQ(ends.ids(), ids);
}

}  // namespace
}  // namespace millrace::conformance
