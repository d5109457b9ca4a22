// Converts a timeout to the point in time at which it ends, and back.
#pragma once

#include <chrono>

#include "millrace/execution.hpp"

namespace millrace::queue {

// Returns kNoDeadline for timeouts that end beyond the range of the clock.
inline Deadline deadline_after(std::chrono::nanoseconds timeout) noexcept {
  const Deadline now = std::chrono::steady_clock::now();
  return timeout < kNoDeadline - now ? now + timeout : kNoDeadline;
}

// Returns the longest timeout for kNoDeadline; negative for a deadline that has passed.
inline std::chrono::nanoseconds time_until(Deadline deadline) noexcept {
  if (deadline == kNoDeadline) return std::chrono::nanoseconds::max();
  return deadline - std::chrono::steady_clock::now();
}

}  // namespace millrace::queue
