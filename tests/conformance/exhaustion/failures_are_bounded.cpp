// Failed results are dropped like others, and their memory is reused.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(failures_are_bounded) {
  constexpr size_t kJobs = 70'000;
  LaneBlocker lanes(device_name());
  const JobArgs shared = args();
  Unit unit = make_unit({.depth = 2});
  Job first = submit(unit, shared);
  EXPECT_EQ(first.cancel(kPatience).value(), CancelOutcome::kRemoved);
  lanes.release();
  JobArgs late = shared;
  late.deadline = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kJobs; ++i) {
    Result<Job> job = unit.submit_until(kNoDeadline, model(), late);
    EXPECT_STATUS(job.status(), kOk);
    EXPECT_STATUS(job.value().wait(kPatience), kDeadlineExceeded);
  }
  EXPECT_STATUS(first.wait(kPatience), kInvalidJobId);
  EXPECT_STATUS(submit(unit, shared).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
