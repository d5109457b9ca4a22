// A job that takes longer than the watchdog's patience, but makes progress, is left alone.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(progress_is_not_a_hang, Tag::kInjects) {
  constexpr auto kFrame = kWatchdog / 2;
  Unit unit = make_unit({.depth = 1, .watchdog = 3 * kFrame});
  faults().slow(kFrame);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_STATUS(submit(unit, args(0, kBatchSize)).wait(kPatience), kOk);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 3 * kFrame);
  EXPECT_EQ(unit.state(), UnitState::kHealthy);
}

}  // namespace
}  // namespace millrace::conformance
