// Parker: one thread sleeps, any thread wakes it. A binary token: unpark gives it, park takes it
// and sleeps while there is none. A system call only to sleep, and to wake a thread that sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "millrace/execution.hpp"

namespace millrace::queue {

class Parker {
 public:
  // Returns once the token was there (true), or at the deadline (false). One thread at a time.
  bool park_until(Deadline deadline) noexcept;
  void park() noexcept { park_until(kNoDeadline); }

  // The woken thread may destroy the parker at once: nothing of it is read after the exchange, and
  // waking an address on which no thread sleeps any more does no harm. The exchange releases what
  // the caller did before to the thread in park_until, which acquires it.
  void unpark() noexcept {
    if (state_.exchange(kToken, std::memory_order_acq_rel) == kAsleep) wake(&state_);
  }

 private:
  static constexpr uint32_t kEmpty = 0, kToken = 1, kAsleep = 2;
  static void wake(std::atomic<uint32_t>* address) noexcept;

  std::atomic<uint32_t> state_{kEmpty};
};

}  // namespace millrace::queue
