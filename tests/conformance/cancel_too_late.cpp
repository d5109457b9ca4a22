// Cancelling a job that is completed changes nothing.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(cancel_too_late) {
  Unit unit = make_unit();
  Job job = submit(unit);
  EXPECT_TRUE(eventually([&] { return job.is_completed(); }));
  EXPECT_EQ(job.cancel(std::chrono::nanoseconds(0)).value(), CancelOutcome::kTooLate);
  EXPECT_STATUS(job.wait(kPatience), kOk);
  expect_computed({0});
}

}  // namespace
}  // namespace millrace::conformance
