// The classes of times.
#include "queue/units/run_times.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace millrace::queue {
namespace {

// The end of a class is the first time of the next one, so the classes have no gaps.
TEST(RunTimes, AClassHoldsTheTimesBeforeItsEnd) {
  for (size_t number = 0; number + 1 < RunTimes::kClasses; ++number) {
    EXPECT_EQ(RunTimes::class_of(RunTimes::end_of(number) - 1), number);
    EXPECT_EQ(RunTimes::class_of(RunTimes::end_of(number)), number + 1);
  }
}

TEST(RunTimes, AClassIsAFifthWideAtMost) {
  for (size_t number = 1; number < RunTimes::kClasses; ++number) {
    const auto begin = static_cast<double>(RunTimes::end_of(number - 1));
    EXPECT_LE(static_cast<double>(RunTimes::end_of(number)), begin * 1.25);
  }
}

TEST(RunTimes, EveryTimeHasAClass) {
  EXPECT_EQ(RunTimes::class_of(std::numeric_limits<int64_t>::min()), 0u);
  EXPECT_EQ(RunTimes::class_of(0), 0u);
  EXPECT_EQ(RunTimes::class_of(std::numeric_limits<int64_t>::max()), RunTimes::kClasses - 1);
}

TEST(RunTimes, CountsWhatIsAdded) {
  RunTimes times;
  for (const int64_t ns : {100, 100, 1'000'000}) times.add(ns);
  EXPECT_EQ(times.counts()[RunTimes::class_of(100)], 2u);
  EXPECT_EQ(times.counts()[RunTimes::class_of(1'000'000)], 1u);
}

}  // namespace
}  // namespace millrace::queue
