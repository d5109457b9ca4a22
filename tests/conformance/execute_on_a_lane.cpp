// With a watchdog execute leaves the job to a lane, and with a deadline or a callback where callers
// never help.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(execute_on_a_lane) {
  CallbackLog log;
  HookGate starts;
  Unit watched = make_unit({.watchdog = kPatience});
  Unit unit = make_unit({.caller_helps = CallerHelps::kNever});
  JobArgs timed = args(), with_callback = args();
  timed.deadline = std::chrono::steady_clock::now() + kPatience;
  with_callback.callback = log.callback();
  const auto on_a_lane = [&](Unit& used, const JobArgs& job) {
    EXPECT_STATUS(used.execute(model(), job), kOk);
    EXPECT_NE(starts.thread_of(used.last_submitted()), std::this_thread::get_id());
  };
  for (int i = 0; i < 20; ++i) {
    on_a_lane(watched, args());
    on_a_lane(unit, timed);
    on_a_lane(unit, with_callback);
  }
  EXPECT_TRUE(log.await(20));
}

}  // namespace
}  // namespace millrace::conformance
