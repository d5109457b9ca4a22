// close cancels jobs that have not started, waits for the running one, and keeps their results.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(close_a_unit) {
  CallbackLog log;
  EventFd fd;
  HookGate starts;
  Unit unit = make_unit({.depth = 3});
  starts.hold(next_id(unit));
  JobArgs with_callback = args(1);
  with_callback.callback = log.callback();
  Job running = submit(unit, 0), queued = submit(unit, with_callback), last = submit(unit, 2);
  const JobId running_id = running.id();
  EXPECT_TRUE(starts.await(running_id));
  queue::SleepingThread closer([&] { unit.close(); });
  closer.await_sleep();
  EXPECT_FALSE(running.is_completed());
  EXPECT_STATUS(unit.submit(model(), args(3)).status(), kClosed);
  EXPECT_STATUS(unit.execute(model(), args(3)), kClosed);
  starts.release();
  closer.join();
  EXPECT_EQ(log.entries().size(), 1u);
  EXPECT_STATUS(log.entries()[0].status, kCancelled);
  EXPECT_EQ(unit.in_flight(), 0u);
  EXPECT_EQ(unit.last_completed(), last.id());
  EXPECT_STATUS(last.notify_fd(fd.get()), kOk);
  EXPECT_EQ(fd.take(), 1u);
  EXPECT_STATUS(running.wait(kPatience), kOk);
  EXPECT_STATUS(queued.wait(kPatience), kCancelled);
  EXPECT_STATUS(last.wait(kPatience), kCancelled);
  EXPECT_EQ(starts.ids(), std::vector<JobId>{running_id});
  unit.close();
}

}  // namespace
}  // namespace millrace::conformance
