// The results of a unit's last requests. Success is the common case and takes no space: only
// failures are kept, in the order of their counters, so a healthy unit's table is empty. Room for
// some is set aside from the beginning; without memory for more, the oldest are forgotten early.
// Thread-safe.
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <mutex>
#include <optional>

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

  // `reserved` failures, at least one, are known even if there is no memory: as many as requests
  // are in flight at one time. Throws std::bad_alloc.
  explicit ResultTable(size_t reserved) : failures_(reserved) {}

  // Keeps a failure. Call before the completion of `counter` is published. What is forgotten for
  // want of memory is found as dropped, so that a failure never looks like a success.
  void record_failure(uint64_t counter, const Status& status, bool started) noexcept;

  // False: all completed requests that the caller knows of have succeeded. See any_failure_.
  bool any_failure() const noexcept { return any_failure_.load(std::memory_order_relaxed); }
  // The result of a completed request; empty when failures as old as this one were dropped.
  std::optional<Result> find(uint64_t counter) const;

 private:
  struct Failure {
    uint64_t counter;
    Result result;
  };

  void insert(Failure failure);
  void drop_oldest();
  void make_room();

  // A relaxed load is enough: a thread that looks up a counter has seen its completion, which
  // follows record_failure().
  std::atomic<bool> any_failure_{false};
  mutable std::mutex mutex_;
  boost::circular_buffer<Failure> failures_;
  // The failures that were dropped lie between these two.
  uint64_t dropped_from_ = UINT64_MAX;
  uint64_t dropped_through_ = 0;
};

}  // namespace millrace::queue
