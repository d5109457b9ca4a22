// The clock of the whole library: monotonic nanoseconds. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace millrace {

inline int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// For people and trace viewers.
constexpr double to_microseconds(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1000.0;
}

}  // namespace millrace
