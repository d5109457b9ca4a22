// CompletionCount: counts executions, and lets others wait for a number of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace millrace::nrt {

class CompletionCount {
 public:
  void add() noexcept;
  void reset() noexcept;

  enum class Outcome { kReached, kTimeout, kClosed };
  // Waits until `expected` have been counted; without a timeout, for ever.
  Outcome wait(uint64_t expected, std::optional<std::chrono::microseconds> timeout);
  // Wakes all who wait, now and later.
  void close() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
  bool closed_ = false;
};

}  // namespace millrace::nrt
