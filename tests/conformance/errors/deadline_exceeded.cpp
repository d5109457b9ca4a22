// DEADLINE_EXCEEDED arrives through every face.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(deadline_exceeded) {
  LaneBlocker lanes(device_name());
  Unit unit = make_unit({.depth = 2, .callback_order = CallbackOrder::kCompletion});
  const Ending ending = {.submit = [&](JobArgs job) {
    job.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    return submit(unit, std::move(job));
  }};
  expect_through_every_face(StatusCode::kDeadlineExceeded, args(), ending);
}

}  // namespace
}  // namespace millrace::conformance
