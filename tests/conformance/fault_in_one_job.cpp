// A faulty device fails the configured job, with the configured status.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(fault_in_one_job, Tag::kInjects) {
  Unit unit = make_unit({.depth = 4});
  faults().fail_nth(2, {StatusCode::kIoError, "the second one"});
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  const Status status = submit(unit, 1).wait(kPatience);
  EXPECT_STATUS(status, kIoError);
  EXPECT_EQ(status.message(), "the second one");
  EXPECT_TRUE(memory(1).is_untouched());
  EXPECT_STATUS(submit(unit, 2).wait(kPatience), kOk);

  // The third frame of four: the frames after it do not run.
  faults().fail_nth(1, {StatusCode::kIoError, "the third frame"}, 2);
  EXPECT_STATUS(submit(unit, args(3, kBatchSize)).wait(kPatience), kIoError);
  EXPECT_EQ(faults().arrivals(), 3u + 3u);
  EXPECT_EQ(memory(3).output(3)[0], JobMemory::kUntouched);
}

}  // namespace
}  // namespace millrace::conformance
