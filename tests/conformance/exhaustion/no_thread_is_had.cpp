// If the system refuses a thread, calls that need one fail at once, and work once there is one.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/support/thread_refusal.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(no_thread_is_had) {
  CallbackLog log;
  // A unit whose jobs waiting threads may run has the thread for deadlines from the start.
  Unit unit = make_unit({.caller_helps = CallerHelps::kNever});
  JobArgs with_callback = args(0), with_deadline = args(0);
  with_callback.callback = log.callback();
  with_deadline.deadline = std::chrono::steady_clock::now() + kPatience;
  {
    const test::ThreadRefusal refusal;
    EXPECT_STATUS(unit.submit(model(), with_callback).status(), kResourceExhausted);
    EXPECT_STATUS(unit.submit(model(), with_deadline).status(), kResourceExhausted);
    EXPECT_EQ(unit.in_flight(), 0u);
    // Lanes are there.
    EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  }
  EXPECT_STATUS(submit(unit, with_callback).wait(kPatience), kOk);
  EXPECT_STATUS(submit(unit, with_deadline).wait(kPatience), kOk);
  EXPECT_TRUE(log.await(1));
}

}  // namespace
}  // namespace millrace::conformance
