// The callback of a removed job is called when its turn has come, also while all lanes are busy.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callback_without_a_lane) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  JobArgs with_callback = args();
  with_callback.callback = log.callback();
  Job job = submit(unit, with_callback);
  EXPECT_EQ(job.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_TRUE(log.await(1));
  EXPECT_EQ(unit.last_completed(), job.id());
}

}  // namespace
}  // namespace millrace::conformance
