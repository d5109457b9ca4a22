// DeferredCallbacks: the callbacks of removed requests that have to wait for those of earlier
// requests, since the unit calls back in the order of submission. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "queue/callbacks/prepared_call.h"
#include "queue/requests/ids.h"

namespace millrace::queue {

class DeferredCallbacks {
 public:
  // Adds a callback, whose result is set and whose id is that of the request.
  void add(PreparedCall callback) noexcept {
    const std::lock_guard lock(mutex_);
    calls_.add(std::move(callback));
    count_.fetch_add(1, std::memory_order_relaxed);
  }

  // Removes and returns the callback of this request; empty if there is none. A relaxed load is
  // enough: the owner passes a removed request after it has seen its completion, which follows
  // add().
  PreparedCall take(SequenceId id) noexcept {
    if (count_.load(std::memory_order_relaxed) == 0) return {};
    const std::lock_guard lock(mutex_);
    PreparedCall callback = calls_.take(id);
    if (callback) count_.fetch_sub(1, std::memory_order_relaxed);
    return callback;
  }

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  CallsById calls_;
};

}  // namespace millrace::queue
