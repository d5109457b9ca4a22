// close wakes all threads that wait for a free place, for a job or for several jobs.
#include <deque>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/coroutine.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(close_wakes_all_waiters) {
  Outcome outcome;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2, .when_full = WhenFull::kBlock});
  Job first = submit(unit, 0), second = submit(unit, 1);
  collect(second, outcome);
  Status of_wait, of_wait_all, of_submit, of_limit, of_room, of_execute;
  Job* const both[] = {&first, &second};
  {
    std::deque<queue::SleepingThread> waiters;
    waiters.emplace_back([&] { of_wait_all = wait_all(both, kPatience); });
    for (queue::SleepingThread& waiter : waiters) waiter.await_sleep();
    waiters.emplace_back([&] { of_submit = unit.submit(model(), args(2)).status(); });
    waiters.emplace_back(
        [&] { of_limit = unit.submit_until(kNoDeadline, model(), args(3)).status(); });
    waiters.emplace_back([&] { of_room = unit.wait_free(2, kPatience); });
    waiters.emplace_back([&] { of_execute = unit.execute(model(), args(4)); });
    waiters.emplace_back([&] { of_wait = first.wait(kPatience); });
    for (queue::SleepingThread& waiter : waiters) waiter.await_sleep();
    unit.close();
  }
  EXPECT_STATUS(of_wait, kCancelled);
  EXPECT_STATUS(of_wait_all, kOk);
  EXPECT_STATUS(of_submit, kClosed);
  EXPECT_STATUS(of_limit, kClosed);
  EXPECT_STATUS(of_room, kClosed);
  EXPECT_STATUS(of_execute, kClosed);
  EXPECT_STATUS(outcome.await(), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
