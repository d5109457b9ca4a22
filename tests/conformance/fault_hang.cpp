// A job that hangs on a faulty device heeds no request to stop; when the hang ends it goes on.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(fault_hang, Tag::kInjects) {
  Unit unit = make_unit();
  faults().hang_nth(1);
  Job job = submit(unit, 0), behind = submit(unit, 1);
  faults().await_hangs(1);
  EXPECT_STATUS(behind.wait(std::chrono::milliseconds(5)), kPending);
  faults().end_hangs();
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(behind.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
