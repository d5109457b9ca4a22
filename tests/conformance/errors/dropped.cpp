// DROPPED arrives through every face.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(dropped) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 1,
                         .when_full = WhenFull::kDropOldest,
                         .callback_order = CallbackOrder::kCompletion});
  const Ending ending = {.submit = [&](JobArgs job) { return submit(unit, std::move(job)); },
                         .end = [&](Job&) { submit(unit, 1).detach(); }};
  expect_through_every_face(StatusCode::kDropped, args(), ending);
}

}  // namespace
}  // namespace millrace::conformance
