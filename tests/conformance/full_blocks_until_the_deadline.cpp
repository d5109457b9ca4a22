// WhenFull::kBlock: submit gives up at the job's own deadline.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_blocks_until_the_deadline) {
  CallbackLog log;
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kBlock});
  Job first = submit(unit, 0);
  JobArgs late = args(1);
  late.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  late.callback = log.callback();
  EXPECT_STATUS(unit.submit(model(), late).status(), kDeadlineExceeded);
  EXPECT_GE(std::chrono::steady_clock::now(), late.deadline);
  EXPECT_EQ(unit.in_flight(), 1u);
  EXPECT_EQ(unit.last_submitted(), first.id());
  lanes.release();
  EXPECT_STATUS(first.wait(kPatience), kOk);
  unit.close();
  EXPECT_TRUE(log.ids().empty());
}

}  // namespace
}  // namespace millrace::conformance
