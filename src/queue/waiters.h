// The threads that sleep until a request of one unit is completed.
//
// The completing side pays one load when nobody sleeps for what it completed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

#include "queue/ring.h"

namespace millrace::queue {

class Waiters {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Wakes the threads that wait for a counter up to `completed`. Call after Ring::complete.
  //
  // No wake-up is lost: this thread stores the completion and then reads `first_wanted_`, a waiter
  // stores `first_wanted_` and then reads the completion (park), all with sequential consistency;
  // so this thread sees the waiter, or the waiter sees the completion and does not sleep.
  void wake(uint64_t completed) noexcept {
    if (first_wanted_.load(std::memory_order_seq_cst) <= completed) wake_parked(completed);
  }

  // Sleeps until request `counter` of `ring` is completed, or the deadline. True: completed.
  bool park(const Ring& ring, uint64_t counter, Deadline deadline);

 private:
  struct Sleeper {  // on the sleeping thread's stack
    explicit Sleeper(uint64_t wanted) noexcept : counter(wanted) {}
    const uint64_t counter;
    std::condition_variable wake;
    Sleeper* next = nullptr;
    bool woken = false;
  };
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  void wake_parked(uint64_t completed) noexcept;
  void link(Sleeper& sleeper) noexcept;
  void unlink(Sleeper& sleeper) noexcept;
  void update_first_wanted() noexcept;

  alignas(64) std::atomic<uint64_t> first_wanted_{kNobody};  // changes only under mutex_
  std::mutex mutex_;
  Sleeper* first_ = nullptr;  // in ascending order of counters
};

}  // namespace millrace::queue
