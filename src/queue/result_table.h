// The results of a unit's last requests. Success is the common case and takes no space: only
// failures are kept, in the order of their counters, so a healthy unit's table is empty.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"

namespace millrace::queue {

class ResultTable {
 public:
  // How many requests back a result is known.
  static constexpr uint64_t kRemembered = 65'536;

  struct Result {
    Status status;
    bool started = true;  // false: the request was removed
  };

  // `depth` failures are kept even if there is no memory for them, without their messages. May throw
  // std::bad_alloc.
  explicit ResultTable(uint32_t depth) { without_memory_.reserve(depth); }

  // Keeps a failure. Call before the completion of `counter` is published.
  void record_failure(uint64_t counter, const Status& status, bool started) noexcept;

  // The result of a completed request; empty when failures as old as this one were dropped.
  std::optional<Result> find(uint64_t counter) const;

 private:
  struct Failure {
    uint64_t counter;
    Result result;
  };

  struct FailureWithoutMemory {
    uint64_t counter;
    StatusCode code;
    bool started;
  };

  void insert(Failure failure);
  void insert_without_memory(const FailureWithoutMemory& failure) noexcept;
  std::optional<Result> find_without_memory(uint64_t counter) const;

  // A relaxed load is enough: a thread that looks up a counter has seen its completion, which
  // follows record_failure().
  std::atomic<bool> any_failure_{false};
  mutable std::mutex mutex_;
  std::deque<Failure> failures_;
  std::vector<FailureWithoutMemory> without_memory_;  // never grows beyond its capacity
  uint64_t dropped_through_ = 0;
};

}  // namespace millrace::queue
