// ResultTable: the results of a unit's last requests. Success is the common case and takes no
// space: only failures are stored, sorted by counter, so a healthy unit's table is empty. The
// constructor reserves memory for some failures; if more cannot be allocated, the oldest are
// dropped early. Thread-safe.
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
  // The number of requests whose results are kept.
  static constexpr uint64_t kRemembered = 65'536;

  struct Result {
    Status status;
    bool started = true;  // false: the request was removed from the queue
  };

  // Reserves memory for `reserved` failures, at least one. With the depth of the unit, the failures
  // of all requests in flight fit even when nothing can be allocated. Throws std::bad_alloc.
  explicit ResultTable(size_t reserved) : failures_(reserved) {}

  // Stores a failure. Call before the completion of `counter` is published. Counters whose failures
  // were dropped for lack of memory are remembered as a range, so that find() never returns a
  // success for them.
  void record_failure(uint64_t counter, const Status& status, bool started) noexcept;

  // Returns false if all completed requests that the caller knows of have succeeded. See
  // any_failure_.
  bool any_failure() const noexcept { return any_failure_.load(std::memory_order_relaxed); }
  // Returns the result of a completed request; empty if it is in the range of dropped failures.
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
  // The range of counters in which failures were dropped, both ends included.
  uint64_t dropped_from_ = UINT64_MAX;
  uint64_t dropped_through_ = 0;
};

}  // namespace millrace::queue
