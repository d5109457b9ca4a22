// try_submit_n keeps the order also for jobs with callbacks and deadlines of their own.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(try_submit_several_with_callbacks) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 3});
  std::vector<JobArgs> wanted;
  for (size_t i = 0; i < 4; ++i) {
    wanted.push_back(args(i));
    wanted.back().callback = log.callback();
    wanted.back().deadline = std::chrono::steady_clock::now() + kPatience * (4 - i);
  }
  std::vector<Job> jobs(4);
  EXPECT_EQ(unit.try_submit_n(model(), wanted, jobs).value(), 3u);
  EXPECT_STATUS(unit.try_submit_n(model(), wanted, jobs).status(), kQueueFull);
  lanes.release();
  for (size_t i = 0; i < 3; ++i) EXPECT_STATUS(jobs[i].wait(kPatience), kOk);
  EXPECT_TRUE(log.await(3));
  EXPECT_EQ(log.ids(), (std::vector<JobId>{jobs[0].id(), jobs[1].id(), jobs[2].id()}));
}

}  // namespace
}  // namespace millrace::conformance
