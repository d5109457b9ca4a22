// A callback may close its own unit; the callbacks that remain run afterwards.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(close_in_a_callback) {
  CallbackLog log;
  HookGate starts;
  Unit unit = make_unit({.depth = 3});
  starts.hold(next_id(unit));
  JobArgs closing = args(0), with_callback = args(1);
  closing.callback = [&](JobId id, const Status& status) {
    EXPECT_TRUE(starts.await(id + 1));
    unit.close();
    log.add(id, status);
  };
  with_callback.callback = log.callback();
  Job first = submit(unit, closing);
  starts.hold(next_id(unit));
  Job second = submit(unit, with_callback), third = submit(unit, with_callback);
  EXPECT_TRUE(starts.await(first.id()));
  starts.release(first.id());
  EXPECT_TRUE(starts.await(second.id()));
  starts.release();
  EXPECT_TRUE(log.await(3));
  EXPECT_EQ(log.ids(), (std::vector<JobId>{first.id(), second.id(), third.id()}));
  EXPECT_STATUS(unit.submit(model(), args(0)).status(), kClosed);
}

}  // namespace
}  // namespace millrace::conformance
