// A job that hangs inside a faulty device is given up, and cannot be cancelled any more; its late
// result is dropped.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(fault_hang_is_recovered, Tag::kInjects) {
  Unit unit = make_unit({.depth = 4, .watchdog = kWatchdog, .auto_reset = true});
  faults().hang_nth(1);
  Job hung = submit(unit, 0), behind = submit(unit, 1);
  faults().await_hangs(1);
  EXPECT_STATUS(hung.cancel(std::chrono::nanoseconds(0)).status(), kPending);
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  EXPECT_STATUS(behind.wait(kPatience), kOk);
  EXPECT_EQ(unit.generation(), 1u);
  const JobId completed = unit.last_completed();
  faults().end_hangs();
  EXPECT_TRUE(eventually([&] { return !memory(0).is_held(); }));
  EXPECT_EQ(unit.last_completed(), completed);
  EXPECT_STATUS(submit(unit, 2).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
