// co_await of a completed job continues at once; of a collected or empty handle it returns an
// error.
#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/coroutine.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(co_await_a_completed_job) {
  Outcome first, again, none;
  Unit unit = make_unit();
  Job job = submit(unit), empty;
  EXPECT_TRUE(eventually([&] { return job.is_completed(); }));
  collect(job, first);
  EXPECT_TRUE(first.is_set());
  EXPECT_EQ(first.thread(), std::this_thread::get_id());
  EXPECT_STATUS(first.await(), kOk);
  collect(job, again);
  collect(empty, none);
  EXPECT_TRUE(again.is_set() && none.is_set());
  EXPECT_STATUS(again.await(), kInvalidJobId);
  EXPECT_STATUS(none.await(), kInvalidJobId);
}

}  // namespace
}  // namespace millrace::conformance
