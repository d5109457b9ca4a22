// CompletionCount: counts executions, and lets threads wait for a number of them. Thread-safe.
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
  // Blocks until `expected` executions have been counted since the last reset, `timeout` has passed
  // or close() is called. Without a timeout there is no limit.
  Outcome wait(uint64_t expected, std::optional<std::chrono::microseconds> timeout);
  // Ends all present and future waits with kClosed, unless their count has been reached.
  void close() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
  bool closed_ = false;
};

}  // namespace millrace::nrt
