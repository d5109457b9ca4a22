// CallbackOrder::kCompletion: a removed job's callback does not wait for those before it.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(callbacks_in_order_of_completion) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .callback_order = CallbackOrder::kCompletion});
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
  EXPECT_TRUE(log.await(1));
  starts.release();
  EXPECT_TRUE(log.await(4));
  EXPECT_EQ(log.ids(), (std::vector<JobId>{removed.id(), first.id(), second.id(), last.id()}));
  for (const CallbackLog::Entry& entry : log.entries()) {
    if (entry.id == removed.id())
      EXPECT_STATUS(entry.status, kCancelled);
    else
      EXPECT_STATUS(entry.status, kOk);
  }
}

}  // namespace
}  // namespace millrace::conformance
