// A unit of 65,536 places accepts as many jobs, and refuses one more.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(largest_unit) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = Unit::kMaxDepth});
  const JobArgs shared = args();
  std::vector<Job> jobs;
  for (uint32_t i = 0; i < Unit::kMaxDepth; ++i) jobs.push_back(submit(unit, shared));
  EXPECT_EQ(unit.in_flight(), Unit::kMaxDepth);
  EXPECT_STATUS(unit.submit(model(), shared).status(), kQueueFull);
  EXPECT_EQ(unit.last_submitted(), jobs.back().id());
  lanes.release();
  for (Job& job : jobs) EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_EQ(unit.last_completed(), unit.last_submitted());
  EXPECT_EQ(unit.in_flight(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
