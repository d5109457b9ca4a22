// Converts a timeout to the point in time at which it ends.
#pragma once

#include <chrono>

#include "millrace/execution.hpp"

namespace millrace::queue {

// Returns kNoDeadline for timeouts that end beyond the range of the clock.
inline Deadline deadline_after(std::chrono::nanoseconds timeout) noexcept {
  const Deadline now = std::chrono::steady_clock::now();
  return timeout < kNoDeadline - now ? now + timeout : kNoDeadline;
}

}  // namespace millrace::queue
