// HUNG arrives, with one report, through every face.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/hook_gate.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(hung) {
  HookGate starts;
  Unit unit = make_unit({.depth = 2, .watchdog = kShortWatchdog, .auto_reset = true});
  const Ending ending = {.submit = [&](JobArgs job) {
    starts.release();  // what hung before
    starts.hold(next_id(unit));
    return submit(unit, std::move(job));
  }};
  expect_through_every_face(StatusCode::kHung, args(), ending);
  starts.release();
}

}  // namespace
}  // namespace millrace::conformance
