// WhenFull::kDropOldest: the oldest job that has not started gives way, and says DROPPED.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_drops_the_oldest) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 3, .when_full = WhenFull::kDropOldest});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  JobArgs with_callback = args(1);
  with_callback.callback = log.callback();
  Job oldest = submit(unit, with_callback);
  Job second = submit(unit, 2);
  Job newest = submit(unit, 3);
  EXPECT_STATUS(oldest.wait(kPatience), kDropped);
  EXPECT_FALSE(second.is_completed() || newest.is_completed() || running.is_completed());
  EXPECT_EQ(unit.in_flight(), 3u);
  starts.release();
  for (Job* job : {&running, &second, &newest}) EXPECT_STATUS(job->wait(kPatience), kOk);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kDropped);
  EXPECT_TRUE(memory(1).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
