// Destroying a device with jobs in flight wakes all waiting threads; handles can still be used.
#include <deque>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/coroutine.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(destroyed_device) {
  CallbackLog log;
  Outcome outcome;
  HookGate starts;
  Unit unit = make_unit({.depth = 4}), other = make_unit({.depth = 4});
  const Model kept = model();
  starts.hold(next_id(unit));
  JobArgs with_callback = args(1);
  with_callback.callback = log.callback();
  Job running = submit(unit, 0), queued = submit(unit, with_callback), awaited = submit(unit, 2),
      done = submit(other, 3);
  EXPECT_TRUE(starts.await(running.id()));
  collect(awaited, outcome);
  Status of_wait;
  {
    queue::SleepingThread waiter([&] { of_wait = queued.wait(kPatience); });
    waiter.await_sleep();
    queue::SleepingThread destroyer([&] { drop_device(); });
    destroyer.await_sleep();
    starts.release();
  }
  EXPECT_STATUS(of_wait, kCancelled);
  EXPECT_STATUS(outcome.await(), kCancelled);
  EXPECT_EQ(log.entries().size(), 1u);
  EXPECT_STATUS(running.wait(kPatience), kOk);
  EXPECT_STATUS(done.wait(kPatience), kOk);
  EXPECT_STATUS(unit.submit(kept, args(4)).status(), kClosed);
  EXPECT_STATUS(other.execute(kept, args(4)), kClosed);
  EXPECT_EQ(other.in_flight(), 0u);
  // The process's device lives on in the handles; a new one may be opened at any time.
  EXPECT_STATUS(Device::open(device_name()).status(), kOk);
}

}  // namespace
}  // namespace millrace::conformance
