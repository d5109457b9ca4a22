// A slow device takes at least the configured time longer, and still computes.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(fault_slow, Tag::kInjects) {
  using std::chrono::milliseconds;
  Unit unit = make_unit();
  faults().slow(milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_STATUS(submit(unit, 0).wait(kPatience), kOk);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  faults().heal();
  EXPECT_STATUS(submit(unit, 1).wait(kPatience), kOk);
  expect_computed({0, 1});
}

}  // namespace
}  // namespace millrace::conformance
