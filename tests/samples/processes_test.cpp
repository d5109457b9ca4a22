// Tests waiting in the NRT samples, under signals that interrupt system calls.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

extern "C" {
#include "processes.h"
}

namespace millrace::test {
namespace {

// Starts a child that interrupts its parent repeatedly, then writes to `channel` and ends with 7.
pid_t interrupting_child(int channel) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  for (int i = 0; i < 100; ++i) {
    ::kill(::getppid(), SIGUSR1);
    ::usleep(500);
  }
  ::_exit(write_whole(channel, "done", 4) ? 7 : 1);
}

class Processes : public testing::Test {
 protected:
  Processes() {
    struct sigaction interrupt {};
    interrupt.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &interrupt, &before_);
    EXPECT_EQ(::pipe(ends_), 0);
  }
  ~Processes() override {
    ::sigaction(SIGUSR1, &before_, nullptr);
    for (const int end : ends_) ::close(end);
  }

  struct sigaction before_ {};
  int ends_[2] = {-1, -1};
};

TEST_F(Processes, AreAwaitedThroughSignals) {
  const pid_t child = interrupting_child(ends_[1]);
  int status = 0;
  ASSERT_TRUE(await_process(child, &status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_FALSE(await_process(child, &status));
}

TEST_F(Processes, AreReadFromThroughSignals) {
  const pid_t child = interrupting_child(ends_[1]);
  char bytes[4] = {};
  EXPECT_TRUE(read_whole(ends_[0], bytes, sizeof bytes));
  EXPECT_EQ(std::string(bytes, 4), "done");
  int status = 0;
  EXPECT_TRUE(await_process(child, &status));
}

}  // namespace
}  // namespace millrace::test
