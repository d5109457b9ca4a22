#include "base/process/thread_spare.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/late_calls.h"

namespace millrace {
namespace {

struct Counted {
  Counted() noexcept { ++made; }
  ~Counted() { ++destroyed; }
  int value = 0;
  static inline std::atomic<int> made{0}, destroyed{0};
};

class ThreadSpareTest : public ::testing::Test {
 protected:
  ThreadSpareTest() { Counted::made = Counted::destroyed = 0; }
};

TEST_F(ThreadSpareTest, IsUsedAgainByTheNextCallOfTheThread) {
  std::thread([] {
    { ThreadSpare<Counted>()->value = 7; }
    EXPECT_EQ(ThreadSpare<Counted>()->value, 7);
    EXPECT_EQ(Counted::made, 1);
  }).join();
  EXPECT_EQ(Counted::destroyed, 1) << "with the thread";
}

TEST_F(ThreadSpareTest, ACallWithinACallGetsAnother) {
  std::thread([] {
    const ThreadSpare<Counted> outer;
    const ThreadSpare<Counted> inner;
    EXPECT_NE(&*outer, &*inner);
  }).join();
  EXPECT_EQ(Counted::made, 2);
  EXPECT_EQ(Counted::destroyed, 2);
}

TEST_F(ThreadSpareTest, ThreadsDoNotShareIt) {
  { ThreadSpare<Counted>()->value = 7; }
  std::thread([] { EXPECT_EQ(ThreadSpare<Counted>()->value, 0); }).join();
}

TEST_F(ThreadSpareTest, WorksUntilTheThreadHasEnded) {
  // The key of its own is the older one then: what the thread has kept is gone at the last call.
  { const ThreadSpare<Counted> first; }
  Counted::made = 0;
  test::call_until_thread_ends([] {
    const ThreadSpare<Counted> spare;
    ASSERT_TRUE(spare);
    ++spare->value;
  });
  EXPECT_EQ(Counted::made, 2) << "one for the first two calls, one for the last";
  EXPECT_EQ(Counted::destroyed, 2);
}

}  // namespace
}  // namespace millrace
