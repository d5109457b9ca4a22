// try_submit_n accepts as many jobs, from the first on, as there are free places.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(try_submit_several) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 4});
  std::vector<JobArgs> wanted;
  for (size_t i = 0; i < 3; ++i) wanted.push_back(args(i));
  std::vector<Job> first(3), second(3), third(3);
  EXPECT_EQ(unit.try_submit_n(model(), wanted, first).value(), 3u);
  EXPECT_EQ(unit.try_submit_n(model(), wanted, second).value(), 1u);
  EXPECT_STATUS(unit.try_submit_n(model(), wanted, third).status(), kQueueFull);
  EXPECT_TRUE(second[0]);
  EXPECT_FALSE(second[1] || second[2] || third[0]);
  EXPECT_EQ(first[1].id(), first[0].id() + 1);
  EXPECT_EQ(first[2].id(), first[0].id() + 2);
  EXPECT_EQ(second[0].id(), first[0].id() + 3);
  EXPECT_EQ(unit.in_flight(), 4u);
  lanes.release();
  for (Job& job : first) EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(second[0].wait(kPatience), kOk);

  std::vector<Job> none;
  EXPECT_STATUS(unit.try_submit_n(model(), wanted, none).status(), kInvalidArgument);
  EXPECT_EQ(unit.try_submit_n(model(), {}, none).value(), 0u);
}

}  // namespace
}  // namespace millrace::conformance
