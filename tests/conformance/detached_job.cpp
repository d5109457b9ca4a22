// A detached job runs on: its handle is empty, its callback is called.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(detached_job) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  JobArgs with_callback = args();
  with_callback.callback = log.callback();
  Job job = submit(unit, with_callback);
  const JobId id = job.id();
  job.detach();
  EXPECT_FALSE(job);
  EXPECT_EQ(job.id(), 0u);
  EXPECT_STATUS(job.wait(kPatience), kInvalidJobId);
  EXPECT_FALSE(unit.is_completed(id));
  lanes.release();
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kOk);
  EXPECT_EQ(log.entries()[0].id, id);
  EXPECT_TRUE(unit.is_completed(id));
  expect_computed({0});
}

}  // namespace
}  // namespace millrace::conformance
