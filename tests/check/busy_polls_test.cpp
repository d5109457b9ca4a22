#include "check/busy_polls.h"

#include <gtest/gtest.h>

namespace millrace::check {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

struct Loop {
  int64_t every_ns = 1'000;  // from poll to poll
  int milliseconds = 20;     // of processor time
  int64_t paused_ns = 0;     // in each of them
  uint64_t completions = 0;  // per poll
};

// Returns whether the polls of the loop are too many.
bool is_noticed(const Loop& loop) {
  BusyPolls polls;
  uint64_t completions = 0;
  const int64_t begin = kMillisecond;
  for (int64_t used = begin; used < begin + loop.milliseconds * kMillisecond;
       used += loop.every_ns) {
    const int64_t now = used + used / kMillisecond * loop.paused_ns;
    if (polls.count(now, used, completions += loop.completions)) return true;
  }
  return false;
}

TEST(BusyPolls, NoticesALoopWithoutAPause) {
  EXPECT_TRUE(is_noticed({}));
}

TEST(BusyPolls, NoticesALoopThatSharesItsCore) {
  EXPECT_TRUE(is_noticed({.paused_ns = 4 * kMillisecond}));
}

TEST(BusyPolls, AllowsPollsBetweenOtherWork) {
  EXPECT_FALSE(is_noticed({.every_ns = 20'000, .milliseconds = 1'000})) << "50 in a millisecond";
}

TEST(BusyPolls, AllowsShortLoopsBeforeSleeps) {
  EXPECT_FALSE(is_noticed({.milliseconds = 2}));
  EXPECT_FALSE(is_noticed({.milliseconds = 1'000, .paused_ns = 20 * kMillisecond}));
}

TEST(BusyPolls, AllowsPollsBetweenCompletions) {
  EXPECT_FALSE(is_noticed({.completions = 1}));
}

}  // namespace
}  // namespace millrace::check
