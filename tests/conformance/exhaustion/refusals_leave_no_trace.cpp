// A full unit refuses any number of jobs and stays as it is.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(refusals_leave_no_trace) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1});
  Job job = submit(unit, 0);
  JobArgs refused = args(1);
  refused.callback = log.callback();
  for (int i = 0; i < 10'000; ++i)
    EXPECT_STATUS(unit.submit(model(), refused).status(), kQueueFull);
  EXPECT_EQ(unit.in_flight(), 1u);
  EXPECT_EQ(unit.last_submitted(), job.id());
  EXPECT_FALSE(memory(1).is_held());
  lanes.release();
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
  unit.close();
  EXPECT_TRUE(log.ids().empty());
}

}  // namespace
}  // namespace millrace::conformance
