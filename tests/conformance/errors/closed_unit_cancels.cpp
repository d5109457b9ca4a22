// The jobs of a unit that closes are CANCELLED through every face.
#include <optional>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"
#include "tests/conformance/support/lane_blocker.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(closed_unit_cancels) {
  LaneBlocker lanes(device_name());
  std::optional<Unit> unit;
  const Ending ending = {.submit =
                             [&](JobArgs job) {
                               unit.emplace(make_unit());
                               return submit(*unit, std::move(job));
                             },
                         .end = [&](Job&) { unit->close(); }};
  expect_through_every_face(StatusCode::kCancelled, args(), ending);
}

}  // namespace
}  // namespace millrace::conformance
