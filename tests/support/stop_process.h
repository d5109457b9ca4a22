// Stops this process, with all its threads, for a while. A child process stops and continues it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>

namespace millrace::test {

inline void stop_this_process_for(std::chrono::milliseconds time) {
  const pid_t stopped = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const timespec duration{.tv_sec = time.count() / 1000,
                            .tv_nsec = time.count() % 1000 * 1'000'000};
    kill(stopped, SIGSTOP);
    nanosleep(&duration, nullptr);
    kill(stopped, SIGCONT);
    _exit(0);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace millrace::test
