// A job that hangs on the thread of its execute is given up when the unit closes.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/hook_gate.h"
#include "tests/conformance/support/threads.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(closed_with_a_hung_execute) {
  HookGate starts;
  Unit unit = make_unit({.depth = 1, .close_patience = kWatchdog});
  const JobId id = next_id(unit);
  starts.hold(id);
  auto executed = on_thread([&] { return unit.execute(model(), args(0)); });
  EXPECT_TRUE(starts.await(id));
  auto closed = on_thread([&] { unit.close(); });
  EXPECT_TRUE(closed.wait_for(kPatience) == std::future_status::ready);
  EXPECT_TRUE(unit.is_completed(id));
  EXPECT_EQ(unit.in_flight(), 0u);
  starts.release();
  EXPECT_STATUS(executed.get(), kHung);
}

}  // namespace
}  // namespace millrace::conformance
