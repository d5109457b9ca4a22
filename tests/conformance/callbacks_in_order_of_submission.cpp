// CallbackOrder::kSubmission: a removed job's callback waits for those of the jobs before it.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callbacks_in_order_of_submission) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .callback_order = CallbackOrder::kSubmission});
  const auto submit_logged = [&](size_t index) {
    JobArgs job = args(index);
    job.callback = log.callback();
    return submit(unit, job);
  };
  starts.hold(next_id(unit));
  Job first = submit_logged(0), second = submit_logged(1);
  Job removed = submit_logged(2), last = submit_logged(3);
  EXPECT_TRUE(starts.await(first.id()));
  EXPECT_EQ(removed.cancel(kPatience).value(), CancelOutcome::kRemoved);
  starts.release();
  EXPECT_TRUE(log.await(4));
  EXPECT_EQ(log.ids(), (std::vector<JobId>{first.id(), second.id(), removed.id(), last.id()}));
  for (const CallbackLog::Entry& entry : log.entries()) {
    if (entry.id == removed.id())
      EXPECT_STATUS(entry.status, kCancelled);
    else
      EXPECT_STATUS(entry.status, kOk);
  }
}

}  // namespace
}  // namespace millrace::conformance
