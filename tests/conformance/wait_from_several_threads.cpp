// All threads that wait for a job wake; one of them gets its result.
#include <array>
#include <deque>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_from_several_threads) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit);
  std::array<Status, 3> seen;
  {
    std::deque<queue::SleepingThread> waiters;
    for (Status& status : seen) waiters.emplace_back([&] { status = job.wait(kPatience); });
    for (queue::SleepingThread& waiter : waiters) waiter.await_sleep();
    lanes.release();
  }
  EXPECT_EQ(std::ranges::count(seen, StatusCode::kOk, &Status::code), 1);
  EXPECT_EQ(std::ranges::count(seen, StatusCode::kInvalidJobId, &Status::code), 2);
}

}  // namespace
}  // namespace millrace::conformance
