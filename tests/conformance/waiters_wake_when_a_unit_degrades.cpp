// Threads that wait for a unit wake when it degrades, with the cause.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/coroutine.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(waiters_wake_when_a_unit_degrades) {
  CallbackLog log;
  EventFd fd;
  Outcome outcome;
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .when_full = WhenFull::kBlock, .watchdog = 2 * kWatchdog});
  starts.hold(next_id(unit));
  JobArgs with_callback = args(2);
  with_callback.callback = log.callback();
  Job hung = submit(unit, 0), waited = submit(unit, 1), called = submit(unit, with_callback),
      awaited = submit(unit, 3);
  EXPECT_STATUS(called.notify_fd(fd.get()), kOk);
  collect(awaited, outcome);
  Status of_wait, of_wait_all, of_submit, of_execute;
  Job* const both[] = {&hung, &called};
  {
    std::vector<std::future<void>> waiters;
    waiters.push_back(on_thread([&] { of_wait = waited.wait(kPatience); }));
    waiters.push_back(on_thread([&] { of_wait_all = wait_all(both, kPatience); }));
    waiters.push_back(on_thread([&] { of_submit = unit.submit(model(), args(4)).status(); }));
    waiters.push_back(on_thread([&] { of_execute = unit.execute(model(), args(5)); }));
  }
  EXPECT_STATUS(of_wait, kUnitDegraded);
  EXPECT_STATUS(of_wait_all, kOk);
  EXPECT_STATUS(of_submit, kUnitDegraded);
  EXPECT_STATUS(of_execute, kUnitDegraded);
  EXPECT_STATUS(outcome.await(), kUnitDegraded);
  EXPECT_TRUE(log.await(1) && fd.await());
  EXPECT_STATUS(log.entries()[0].status, kUnitDegraded);
  EXPECT_EQ(of_wait.message(), of_submit.message());
  EXPECT_EQ(of_wait.message(), outcome.await().message());
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  EXPECT_STATUS(called.wait(kPatience), kUnitDegraded);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
