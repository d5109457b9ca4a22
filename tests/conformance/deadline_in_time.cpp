// A job that is done before its deadline has succeeded; the deadline has no effect afterwards.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadline_in_time) {
  HookGate ends(HookPoint::kCompleted);
  Unit unit = make_unit();
  JobArgs in_time = args();
  in_time.deadline = std::chrono::steady_clock::now() + 2 * kWatchdog;
  ends.hold(next_id(unit));
  Job job = submit(unit, in_time);
  EXPECT_TRUE(ends.await(job.id()));
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= in_time.deadline; }));
  ends.release();
  EXPECT_STATUS(job.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
