// An empty handle, and one that was moved from, has no job.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(empty_handles) {
  Unit unit = make_unit();
  Job moved_from = submit(unit);
  Job job = std::move(moved_from);
  Job empty;
  for (Job* none : {&empty, &moved_from}) {
    EXPECT_FALSE(*none);
    EXPECT_EQ(none->id(), 0u);
    EXPECT_TRUE(none->is_completed());
    EXPECT_STATUS(none->wait(kPatience), kInvalidJobId);
    EXPECT_STATUS(none->cancel(kPatience).status(), kInvalidJobId);
    EXPECT_STATUS(none->notify_fd(-1), kInvalidJobId);
    none->detach();
  }
  EXPECT_TRUE(job);
  EXPECT_STATUS(job.wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
