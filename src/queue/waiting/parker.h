// Parker: lets one thread sleep until any other thread wakes it. It is a binary token, like a
// semaphore with a maximum of one: unpark() provides the token, park() takes it and sleeps until it
// is there. A system call (futex) is made only to sleep and to wake a sleeping thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "millrace/execution.hpp"

namespace millrace::queue {

class Parker {
 public:
  // Takes the token and returns true; returns false if there is none by the deadline. Only one
  // thread may park at a time.
  bool park_until(Deadline deadline) noexcept;
  void park() noexcept { park_until(kNoDeadline); }

  // The woken thread may destroy the parker at once: no member is read after the exchange, and
  // waking an address on which no thread sleeps any more is harmless. The exchange releases the
  // caller's earlier writes to the thread in park_until, which acquires them.
  void unpark() noexcept {
    if (state_.exchange(kToken, std::memory_order_acq_rel) == kAsleep) wake(&state_);
  }

 private:
  static constexpr uint32_t kEmpty = 0, kToken = 1, kAsleep = 2;
  static void wake(std::atomic<uint32_t>* address) noexcept;

  std::atomic<uint32_t> state_{kEmpty};
};

}  // namespace millrace::queue
