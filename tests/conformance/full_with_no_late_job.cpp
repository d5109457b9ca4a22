// WhenFull::kShedByDeadline: where all jobs are expected in time, the newcomer is refused.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_with_no_late_job) {
  HookGate starts;
  Unit unit = make_unit({.depth = 3, .when_full = WhenFull::kShedByDeadline});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  Job unhurried = submit(unit, 1);
  JobArgs in_time = args(2);
  in_time.deadline = std::chrono::steady_clock::now() + kPatience;
  Job last = submit(unit, in_time);
  EXPECT_STATUS(unit.submit(model(), args(3)).status(), kQueueFull);
  // A job that would be late itself gets its own error.
  JobArgs late = args(3);
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_STATUS(unit.submit(model(), late).status(), kDeadlineExceeded);
  EXPECT_EQ(unit.in_flight(), 3u);
  EXPECT_EQ(unit.last_submitted(), last.id());
  starts.release();
  for (Job* job : {&running, &unhurried, &last}) EXPECT_STATUS(job->wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
