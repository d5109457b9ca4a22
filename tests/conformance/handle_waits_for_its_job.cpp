// A handle that goes away, or is assigned to, uncollected waits for its job.
#include <optional>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(handle_waits_for_its_job) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  std::optional<Job> destroyed = submit(unit, 0);
  Job assigned = submit(unit, 1);
  const JobId last = assigned.id();
  queue::SleepingThread destroyer([&] { destroyed.reset(); });
  queue::SleepingThread assigner([&] { assigned = Job(); });
  destroyer.await_sleep();
  assigner.await_sleep();
  EXPECT_EQ(unit.in_flight(), 2u);
  lanes.release();
  destroyer.join();
  assigner.join();
  EXPECT_TRUE(unit.is_completed(last));
  EXPECT_FALSE(assigned);
  expect_computed({0, 1});
}

}  // namespace
}  // namespace millrace::conformance
