// A unit that is assigned to closes what it held; one that was moved goes on.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(moved_unit) {
  Unit unit = make_unit(), other = make_unit();
  Job job = submit(unit, 0);
  const JobId id = job.id();
  Unit moved = std::move(unit);
  EXPECT_STATUS(submit(moved, 1).wait(kPatience), kOk);
  EXPECT_TRUE(eventually([&] { return moved.is_completed(id); }));
  moved = std::move(other);
  EXPECT_FALSE(moved.is_completed(id));
  EXPECT_STATUS(job.wait(kPatience), kOk);
  EXPECT_STATUS(submit(moved, 2).wait(kPatience), kOk);
}

}  // namespace
}  // namespace millrace::conformance
