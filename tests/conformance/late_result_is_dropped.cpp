// The late result of a hung job is dropped; until then the memory that the job names is kept.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(late_result_is_dropped) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 4, .watchdog = kWatchdog, .auto_reset = true});
  starts.hold(next_id(unit));
  JobArgs with_callback = args(0);
  with_callback.callback = log.callback();
  Job hung = submit(unit, with_callback);
  EXPECT_TRUE(log.await(1));
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
  const JobId completed = unit.last_completed();
  EXPECT_TRUE(memory(0).is_held());
  starts.release();
  EXPECT_TRUE(eventually([&] { return !memory(0).is_held(); }));
  EXPECT_EQ(unit.last_completed(), completed);
  EXPECT_EQ(unit.in_flight(), 0u);
  EXPECT_STATUS(hung.wait(kPatience), kHung);
  unit.close();
  EXPECT_EQ(log.entries().size(), 1u);
  EXPECT_STATUS(log.entries()[0].status, kHung);
}

}  // namespace
}  // namespace millrace::conformance
