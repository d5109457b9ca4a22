// co_await continues on the callback thread once the job is completed, and collects its result.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/coroutine.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(co_await_a_pending_job) {
  CallbackLog log;
  Outcome outcome;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit, 0);
  collect(job, outcome);
  EXPECT_FALSE(outcome.is_set());
  JobArgs other = args(1);
  other.callback = log.callback();
  Job second = submit(unit, other);
  lanes.release();
  EXPECT_STATUS(outcome.await(), kOk);
  EXPECT_TRUE(log.await(1));
  EXPECT_EQ(outcome.thread(), log.entries()[0].thread);
  EXPECT_STATUS(job.wait(kPatience), kInvalidJobId);
  EXPECT_STATUS(second.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
