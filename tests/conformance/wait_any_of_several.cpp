// wait_any gives the job that is completed, of any unit and device, and collects nothing.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_any_of_several) {
  using std::chrono::milliseconds;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit(), other = make_unit();
  Job first = submit(unit, 0), second = submit(unit, 1), third = submit(other, 2), none;
  Job* const jobs[] = {&first, &second, &third};
  EXPECT_STATUS(wait_any({}, kPatience).status(), kInvalidArgument);
  Job* const no_job[] = {&first, nullptr};
  EXPECT_STATUS(wait_any(no_job, kPatience).status(), kInvalidArgument);
  Job* const empty_job[] = {&first, &none};
  EXPECT_STATUS(wait_any(empty_job, kPatience).status(), kInvalidJobId);
  EXPECT_STATUS(wait_any(jobs, milliseconds(0)).status(), kPending);
  EXPECT_STATUS(wait_any(jobs, milliseconds(5)).status(), kPending);

  auto woken = on_thread([&] { return wait_any(jobs, kPatience); });
  EXPECT_EQ(third.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_EQ(woken.get().value(), 2u);
  EXPECT_EQ(second.cancel(kPatience).value(), CancelOutcome::kRemoved);
  EXPECT_EQ(wait_any(jobs, kPatience).value(), 1u);
  EXPECT_STATUS(second.wait(kPatience), kCancelled);
  EXPECT_STATUS(wait_any(jobs, kPatience).status(), kInvalidJobId);

  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  EXPECT_STATUS(third.wait(kPatience), kCancelled);
}

}  // namespace
}  // namespace millrace::conformance
