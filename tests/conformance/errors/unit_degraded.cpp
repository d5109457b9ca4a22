// UNIT_DEGRADED arrives, with the cause, through every face.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(unit_degraded) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .watchdog = kWatchdog});
  Job hung;
  const Ending ending = {.submit = [&](JobArgs job) {
    starts.release();
    EXPECT_STATUS(unit.reset(), kOk);
    starts.hold(next_id(unit));
    hung = submit(unit, 1);
    return submit(unit, std::move(job));
  }};
  expect_through_every_face(StatusCode::kUnitDegraded, args(), ending);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
