// How long threads spin, beside other programs that take their cores.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "queue/waiting/spin.h"

namespace millrace::queue {
namespace {

using std::chrono::microseconds;

// A spinning thread that gets no further for so long cannot tell why.
void lose_core() {
  int calls = 0;
  spin_until(
      [&] {
        if (++calls == 2) std::this_thread::sleep_for(std::chrono::milliseconds(4));
        return calls > 3;
      },
      std::chrono::seconds(1));
}

// Cores are shared for a second, in which a busy machine may take one again.
bool spins_for_all_of(microseconds usual) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    if (spin_budget::beside_others(usual) == usual) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Spin, IsShortForAWhileOnceAnotherProgramHadTheCore) {
  constexpr microseconds kUsual{400};
  EXPECT_TRUE(spins_for_all_of(kUsual));
  lose_core();
  EXPECT_EQ(spin_budget::beside_others(kUsual), microseconds(20));
  EXPECT_EQ(spin_budget::beside_others(microseconds(3)), microseconds(3));
  EXPECT_EQ(spin_budget::beside_others(microseconds(0)), microseconds(0));
  EXPECT_TRUE(spins_for_all_of(kUsual));
}

TEST(Spin, EndsWithWhatIsWaitedFor) {
  int calls = 0;
  EXPECT_TRUE(spin_until([&] { return ++calls == 3; }, std::chrono::seconds(60)));
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(spin_until([] { return false; }, microseconds(10)));
  EXPECT_TRUE(spin_until([] { return true; }, microseconds(0)));
}

}  // namespace
}  // namespace millrace::queue
