// Bounded spinning: how a thread that expects an event within microseconds waits without sleeping.
//
// Sleeping costs tens of microseconds to undo, spinning costs a core. So every spin here is bounded
// in time, and threads spin only while lanes at work and spinning threads together fit the cores
// this process may use. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"

namespace millrace::queue {

// The processor's hint for spin loops.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Decides whether spinning is worthwhile. Counts Millrace's threads that hold a core (lanes that
// are awake and waiters that spin), and notes whether other programs take cores from them.
namespace spin_budget {
void take() noexcept;
void give() noexcept;
// Whether the threads counted, the caller included, fit the cores.
bool fits() noexcept;

// A thread that gets no further for so long has lost its core to another program, for a slice of
// the scheduler.
inline constexpr int64_t kSliceNs = 2'000'000;
// Notes that this happened. For a second from then on the cores count as shared with others.
void note_lost_core() noexcept;
// For how long to spin where `usual` is right on cores of one's own. On shared ones spinning takes
// time away from running, and what is waited for may itself wait for a core.
std::chrono::nanoseconds beside_others(std::chrono::nanoseconds usual) noexcept;
}  // namespace spin_budget

// Calls `done` until it returns true or `limit` has passed; returns what it returned last. It is
// called at least once, and takes far less than a slice of the scheduler.
template <class Done>
bool spin_until(Done&& done, std::chrono::nanoseconds limit) {
  if (done()) return true;
  int64_t now = now_ns();
  const int64_t deadline = now + limit.count();
  do {
    cpu_relax();
    const int64_t before = std::exchange(now, now_ns());
    if (now - before >= spin_budget::kSliceNs) spin_budget::note_lost_core();
    if (done()) return true;
  } while (now < deadline);
  return false;
}

// How long one kind of wait spins before it sleeps: up to `limit`, less and less while spinning
// does not succeed (down to a sixteenth), and the whole limit again as soon as it does. Every
// sixteenth wait tries the whole limit, so that shorter waits are noticed. Thread-safe.
class AdaptiveSpin {
 public:
  explicit AdaptiveSpin(std::chrono::nanoseconds limit) noexcept
      : limit_ns_(std::max<int64_t>(limit.count(), 0)), now_ns_(limit_ns_) {}

  // Spins until `done`, at most for `longest`, and not at all where spinning threads would not fit
  // the cores. The caller counts as a busy thread from take() to give() of the spin budget.
  template <class Done>
  bool until(Done&& done, std::chrono::nanoseconds longest = std::chrono::nanoseconds::max()) {
    const bool whole = waits_.fetch_add(1, std::memory_order_relaxed) % 16 == 0;
    const int64_t limit = !spin_budget::fits() ? 0
                          : whole              ? limit_ns_
                                               : now_ns_.load(std::memory_order_relaxed);
    const bool seen = spin_until(done, std::min(std::chrono::nanoseconds(limit), longest));
    now_ns_.store(seen ? limit_ns_ : std::max(limit / 2, limit_ns_ / 16),
                  std::memory_order_relaxed);
    return seen;
  }

 private:
  const int64_t limit_ns_;
  // Advice only: relaxed throughout.
  std::atomic<int64_t> now_ns_;
  std::atomic<uint32_t> waits_{0};
};

}  // namespace millrace::queue
