// CANCELLED arrives through every face.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancelled) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2, .callback_order = CallbackOrder::kCompletion});
  const Ending ending = {
      .submit = [&](JobArgs job) { return submit(unit, std::move(job)); },
      .end = [](Job& job) { EXPECT_EQ(job.cancel(kPatience).value(), CancelOutcome::kRemoved); }};
  expect_through_every_face(StatusCode::kCancelled, args(), ending);
}

}  // namespace
}  // namespace millrace::conformance
