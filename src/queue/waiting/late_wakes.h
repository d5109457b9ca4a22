// LateWakes: the total lateness of the wake-ups of a thread that sleeps repeatedly.
//
// For that time the process was stopped (SIGSTOP, a debugger, a frozen control group) or got no
// processor. No request could make progress, so watchdogs and execution timeouts do not count it.
// The part of a stop that falls into the planned time of a sleep is not measured.
//
// The caller serialises sleeps_until() and woke(), as the monitor does with its mutex. The other
// functions are thread-safe.
#pragma once

#include <atomic>
#include <chrono>

#include "millrace/execution.hpp"

namespace millrace::queue {

class LateWakes {
 public:
  void sleeps_until(Deadline when) noexcept {
    until_.store(when.time_since_epoch().count(), std::memory_order_seq_cst);
  }
  // Adding first and resetting until_ second means that a concurrent total() may count this wake-up
  // twice but cannot miss it.
  void woke(Deadline now) noexcept {
    total_.fetch_add(late(now), std::memory_order_seq_cst);
    sleeps_until(kNoDeadline);
  }

  // Returns the lateness of all wake-ups so far.
  std::chrono::nanoseconds noticed() const noexcept {
    return std::chrono::nanoseconds(total_.load(std::memory_order_relaxed));
  }
  // Like noticed(), but includes the lateness of a sleep that should have ended by `now`.
  std::chrono::nanoseconds total(Deadline now) const noexcept {
    const Deadline::rep pending = late(now);
    return std::chrono::nanoseconds(pending + total_.load(std::memory_order_seq_cst));
  }

 private:
  Deadline::rep late(Deadline now) const noexcept {
    const Deadline until{Deadline::duration(until_.load(std::memory_order_seq_cst))};
    return now > until ? (now - until).count() : 0;
  }

  std::atomic<Deadline::rep> until_{kNoDeadline.time_since_epoch().count()};
  std::atomic<Deadline::rep> total_{0};
};

}  // namespace millrace::queue
