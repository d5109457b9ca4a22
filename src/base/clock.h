// The clock of all layers: monotonic time in nanoseconds. Thread-safe.
#pragma once

#include <errno.h>
#include <time.h>

#include <chrono>
#include <cstdint>

namespace millrace {

inline int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Blocks until the given time of that clock; returns at once if it has passed. steady_clock is
// CLOCK_MONOTONIC.
inline void sleep_until_ns(int64_t time_ns) noexcept {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const timespec time{.tv_sec = time_ns / kNsPerSecond, .tv_nsec = time_ns % kNsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

// The longest timeout. Longer ones are reduced to it, since the clock may be unable to express
// them: programs pass the largest number to mean no limit.
inline constexpr std::chrono::hours kLongestWait{24 * 365};

// Converts nanoseconds to microseconds, for output.
constexpr double to_microseconds(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1000.0;
}

}  // namespace millrace
