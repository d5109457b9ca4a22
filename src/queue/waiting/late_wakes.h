// LateWakes: how late a thread that sleeps again and again has woken in all.
//
// So long the process was stopped (SIGSTOP, a debugger, a frozen control group) or got no
// processor: no request could make progress, and neither watchdogs nor execution timeouts count
// that time. What a stop takes of the sleep in which it begins does not show.
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
  // In this order, a thread that asks meanwhile may count this wake-up twice, but not miss it.
  void woke(Deadline now) noexcept {
    total_.fetch_add(late(now), std::memory_order_seq_cst);
    sleeps_until(kNoDeadline);
  }

  // The lateness of the wake-ups until now, to be subtracted later from total().
  std::chrono::nanoseconds noticed() const noexcept {
    return std::chrono::nanoseconds(total_.load(std::memory_order_relaxed));
  }
  // Counts a sleep that should have ended, too.
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
