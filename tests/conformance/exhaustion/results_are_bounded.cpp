// The last 65,536 uncollected results are kept; older ones are dropped, and one log line says so.
#include "tests/conformance/support/behaviour.h"
#include "tests/support/log_capture.h"

namespace millrace::conformance {
namespace {

constexpr size_t kKept = 65'536;

MILLRACE_BEHAVIOUR(results_are_bounded) {
  test::LogCapture lines;
  Unit unit = make_unit({.depth = 1024, .when_full = WhenFull::kBlock});
  const JobArgs shared = args();
  Job first = submit(unit, shared), second = submit(unit, shared);
  Job last;
  for (size_t i = 2; i < kKept + 1; ++i) {
    Job job = submit(unit, shared);
    i == kKept ? void(last = std::move(job)) : job.detach();
  }
  EXPECT_STATUS(last.wait(kPatience), kOk);
  EXPECT_STATUS(first.wait(kPatience), kInvalidJobId);
  EXPECT_STATUS(second.wait(kPatience), kOk);
  EXPECT_EQ(lines.count(""), 1u);
}

}  // namespace
}  // namespace millrace::conformance
