// Jobs of several models give way to those of a higher priority.
#include "cli/bench/together/precedence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "base/clock.h"

namespace millrace::test {
namespace {

constexpr int64_t kEver = std::numeric_limits<int64_t>::max();

TEST(Precedence, IsClosedWhileAHigherPriorityIsInFlight) {
  cli::Precedence precedence;
  EXPECT_TRUE(precedence.is_open(0));
  precedence.enter(1, kEver);
  EXPECT_FALSE(precedence.is_open(0));
  EXPECT_TRUE(precedence.is_open(1)) << "equals share";
  EXPECT_TRUE(precedence.is_open(2));
  precedence.enter(1, kEver);
  precedence.leave(1);
  EXPECT_FALSE(precedence.is_open(0)) << "one is left";
  precedence.leave(1);
  EXPECT_TRUE(precedence.is_open(0));
}

TEST(Precedence, LetsALowerPriorityInWhenTheHigherIsDone) {
  cli::Precedence precedence;
  precedence.enter(1, kEver);
  std::atomic<bool> done{false};
  std::thread lower([&] {
    precedence.enter(0, now_ns() + int64_t{60} * 1'000'000'000);
    EXPECT_TRUE(done);
  });
  done = true;
  precedence.leave(1);
  lower.join();
}

TEST(Precedence, LetsEverybodyInAtTheEnd) {
  cli::Precedence precedence;
  precedence.enter(1, kEver);
  precedence.enter(0, now_ns());
  EXPECT_TRUE(precedence.is_open(1));
}

}  // namespace
}  // namespace millrace::test
