// An exploration runs a scenario again and again: a few threads over fresh state, and a last check.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace millrace::explore {

inline constexpr int kMaxThreads = 3;

struct Scenario {
  struct Thread {
    std::string name;
    std::function<void()> run;
  };
  std::vector<Thread> threads;
  std::function<void()> at_end;  // after all threads have ended, on the exploring thread
};

// When a thread happened before another's operation, as far as atomics and mutexes order them: how
// many of each thread's releases are known.
using Clock = std::array<uint32_t, kMaxThreads>;

}  // namespace millrace::explore
