// A queued job whose deadline passes completes at once and frees its place; it never runs.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadline_in_the_queue) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .callback_order = CallbackOrder::kCompletion});
  starts.hold(next_id(unit));
  Job running = submit(unit, 0);
  EXPECT_TRUE(starts.await(running.id()));
  JobArgs hurried = args(1);
  hurried.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  hurried.callback = log.callback();
  Job late = submit(unit, hurried);
  EXPECT_STATUS(late.wait(kPatience), kDeadlineExceeded);
  EXPECT_GE(std::chrono::steady_clock::now(), hurried.deadline);
  EXPECT_STATUS(unit.wait_free(1, kPatience), kOk);
  Job next = submit(unit, 2);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kDeadlineExceeded);
  EXPECT_FALSE(running.is_completed());
  starts.release();
  EXPECT_STATUS(running.wait(kPatience), kOk);
  EXPECT_STATUS(next.wait(kPatience), kOk);
  EXPECT_EQ(starts.count(log.ids()[0]), 0u);
  EXPECT_TRUE(memory(1).is_untouched());
}

}  // namespace
}  // namespace millrace::conformance
