// A device failure arrives with its code and message through every face, and from execute.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/faces.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(device_failure, Tag::kInjects) {
  const Status failure(StatusCode::kDeviceFailed, "the wheel is broken");
  Unit unit = make_unit({.depth = 2, .auto_reset = true});
  const Ending ending = {.submit =
                             [&](JobArgs job) {
                               faults().hold();
                               faults().fail_nth(1, failure);
                               return submit(unit, std::move(job));
                             },
                         .end = [&](Job&) { faults().release(); }};
  expect_through_every_face(StatusCode::kDeviceFailed, args(), ending);

  faults().fail_nth(1, failure);
  const Status executed = unit.execute(model(), args());
  EXPECT_STATUS(executed, kDeviceFailed);
  EXPECT_EQ(executed.message(), failure.message());
}

}  // namespace
}  // namespace millrace::conformance
