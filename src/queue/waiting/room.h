// Room: lets threads wait until places of one or of several units are free. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/cancellation.h"
#include "millrace/execution.hpp"

namespace millrace::queue {

class Room {
 public:
  // Sleeps until `has_room()` returns true, or until the deadline; returns its last result.
  // `has_room` must read with sequential consistency: this thread increments `waiting_` and then
  // calls it, a completing thread frees the place and then reads `waiting_`. At least one of the
  // two sees the other.
  template <class HasRoom>
  bool wait_until(Deadline deadline, HasRoom&& has_room) {
    const CancellationOff whole;
    std::unique_lock lock(mutex_);
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    const bool had = changed_.wait_until(lock, deadline, has_room);
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    return had;
  }

  // Wakes all waiting threads. Call after a place became free, or after anything else that
  // `has_room` reads has changed, by a sequentially consistent write. Costs one load if no thread
  // waits.
  void changed() noexcept {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
  // Wakes one waiting thread. Call instead of changed() after one place became free, if every
  // waiter wants one place. If a thread that was not waiting takes the place first, the completion
  // of its request calls this again. A woken thread that takes no place after all must call it,
  // too.
  void one_place_freed() noexcept {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_one();
  }

 private:
  std::atomic<uint32_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace millrace::queue
