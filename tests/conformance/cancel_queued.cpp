// A queued job that is cancelled is removed: it completes at once, and its place is free.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancel_queued) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 3});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  JobArgs with_callback = args(1);
  with_callback.callback = log.callback();
  Job removed = submit(unit, with_callback), behind = submit(unit, 2);
  EXPECT_TRUE(starts.await(running.id()));
  EXPECT_EQ(removed.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_TRUE(removed.is_completed());
  EXPECT_FALSE(running.is_completed() || behind.is_completed());
  EXPECT_EQ(unit.in_flight(), 2u);
  const JobId id = removed.id();
  const Status status = removed.wait(std::chrono::nanoseconds(0));
  EXPECT_STATUS(status, kCancelled);
  EXPECT_NE(status.message().find("untouched"), std::string::npos) << status.message();
  Job next = submit(unit, 3);
  starts.release();
  for (Job* job : {&running, &behind, &next}) EXPECT_STATUS(job->wait(kPatience), kOk);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kCancelled);
  EXPECT_EQ(starts.count(id), 0u);
  EXPECT_TRUE(memory(1).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
