// The clock of the whole library: monotonic nanoseconds. Thread-safe.
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

// Returns at a time of that clock (CLOCK_MONOTONIC is what steady_clock reads), at once when it has
// passed.
inline void sleep_until_ns(int64_t time_ns) noexcept {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const timespec time{.tv_sec = time_ns / kNsPerSecond, .tv_nsec = time_ns % kNsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

// For people and trace viewers.
constexpr double to_microseconds(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1000.0;
}

}  // namespace millrace
