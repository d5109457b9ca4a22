// WhenFull::kShedByDeadline: the queued job least likely to be in time gives way.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_sheds_by_deadline, Tag::kInjects) {
  using std::chrono::milliseconds;
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .when_full = WhenFull::kShedByDeadline});
  // The unit learns how long jobs take.
  faults().slow(milliseconds(300));
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  faults().slow(milliseconds(0));

  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  Job unhurried = submit(unit, 1);
  JobArgs hurried = args(2);  // third in line: done in about 900 ms
  hurried.deadline = std::chrono::steady_clock::now() + milliseconds(500);
  Job victim = submit(unit, hurried);
  JobArgs in_time = args(3);
  in_time.deadline = std::chrono::steady_clock::now() + kPatience;
  Job other = submit(unit, in_time);
  Job newcomer = submit(unit, 4);
  EXPECT_STATUS(victim.wait(kPatience), kDeadlineExceeded);
  EXPECT_FALSE(unhurried.is_completed() || other.is_completed());
  starts.release();
  for (Job* job : {&running, &unhurried, &other, &newcomer})
    EXPECT_STATUS(job->wait(kPatience), kOk);
  EXPECT_TRUE(memory(2).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
