// wait says PENDING when its timeout passes first, and the result can still be collected.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(wait_with_timeout) {
  using std::chrono::milliseconds;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_STATUS(job.wait(milliseconds(-1)), kPending);
  EXPECT_STATUS(job.wait(milliseconds(0)), kPending);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_STATUS(job.wait(milliseconds(10)), kPending);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(10));
  lanes.release();
  EXPECT_STATUS(job.wait(), kOk);
}

}  // namespace
}  // namespace millrace::conformance
