// Without auto_reset a hung job degrades its unit: every job in it, and every later one, fails with
// the cause.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(hang_degrades_the_unit) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 3, .watchdog = kWatchdog});
  starts.hold(next_id(unit));
  Job hung = submit(unit, 0);
  JobArgs with_callback = args(1);
  with_callback.callback = log.callback();
  Job behind = submit(unit, with_callback);
  const JobId id = behind.id();
  const Status cause = hung.wait(kPatience);
  EXPECT_STATUS(cause, kHung);
  const Status status = behind.wait(kPatience);
  EXPECT_STATUS(status, kUnitDegraded);
  EXPECT_NE(status.message().find(cause.message()), std::string::npos) << status.message();
  EXPECT_EQ(unit.state(), UnitState::kDegraded);
  const Status refused = unit.submit(model(), args(2)).status();
  EXPECT_STATUS(refused, kUnitDegraded);
  EXPECT_EQ(refused.message(), unit.failure().message());
  EXPECT_STATUS(unit.execute(model(), args(2)), kUnitDegraded);
  EXPECT_EQ(unit.last_submitted(), id);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(log.entries()[0].status, kUnitDegraded);
  EXPECT_EQ(starts.count(id), 0u);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
