// wait_all returns when all jobs are completed, whatever their status.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_all_of_several) {
  using std::chrono::milliseconds;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit(), other = make_unit();
  Job first = submit(unit, 0), second = submit(unit, 1), third = submit(other, 2);
  Job* const jobs[] = {&first, &second, &third};
  EXPECT_STATUS(wait_all({}, kPatience), kInvalidArgument);
  EXPECT_STATUS(wait_all(jobs, milliseconds(0)), kPending);
  EXPECT_EQ(second.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_STATUS(wait_all(jobs, milliseconds(5)), kPending);
  auto woken = on_thread([&] { return wait_all(jobs, kPatience); });
  lanes.release();
  EXPECT_STATUS(woken.get(), kOk);
  EXPECT_STATUS(first.wait(milliseconds(0)), kOk);
  EXPECT_STATUS(second.wait(milliseconds(0)), kCancelled);
  EXPECT_STATUS(third.wait(milliseconds(0)), kOk);
  EXPECT_STATUS(wait_all(jobs, kPatience), kInvalidJobId);
}

}  // namespace
}  // namespace millrace::conformance
