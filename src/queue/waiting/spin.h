// Bounded spinning: how a thread that expects an event within microseconds waits without sleeping.
//
// Waking a sleeping thread takes tens of microseconds; spinning occupies a core. So every spin here
// is bounded in time, and threads spin only while busy lanes and spinning threads together do not
// exceed the cores that this process may use. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"

namespace millrace::queue {

// Executes the processor's hint for spin loops, if it has one.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Decides whether spinning is worthwhile. Counts Millrace's threads that occupy a core (lanes that
// are awake and waiters that spin), and records whether other programs take cores from them.
namespace spin_budget {
// Count the calling thread among the threads that occupy a core, and no longer.
void take() noexcept;
void give() noexcept;
// Returns whether there are no more counted threads, the caller included, than cores.
bool fits() noexcept;

// A spinning thread that does not run for this time has lost its core to another program, for a
// time slice of the scheduler.
inline constexpr int64_t kSliceNs = 2'000'000;
// Records a lost core. For one second from then on the cores count as shared with other programs.
void note_lost_core() noexcept;
// Returns for how long to spin: `usual`, or at most 20 us while the cores count as shared. There
// spinning takes time from other threads, perhaps from the thread that is waited for.
std::chrono::nanoseconds beside_others(std::chrono::nanoseconds usual) noexcept;
}  // namespace spin_budget

// Calls `done` until it returns true or `limit` has passed; returns its last result. `done` is
// called at least once, and must take far less than kSliceNs: a longer pause between two readings
// of the clock counts as a lost core.
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

// Adapts how long one kind of wait spins before it sleeps. The time starts at `limit`, is halved
// with each spin that does not succeed, down to a sixteenth, and returns to `limit` when one
// succeeds. Every sixteenth wait spins for the whole limit, so that shorter waits are noticed.
// Thread-safe.
class AdaptiveSpin {
 public:
  explicit AdaptiveSpin(std::chrono::nanoseconds limit) noexcept
      : limit_ns_(std::max<int64_t>(limit.count(), 0)), now_ns_(limit_ns_) {}

  // Spins until `done()` returns true, at most for `longest`. Calls `done` only once if the spin
  // budget is exceeded. The caller must be counted in the spin budget (take() to give()).
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
  // Heuristics only, which publish nothing: all accesses are relaxed.
  std::atomic<int64_t> now_ns_;
  std::atomic<uint32_t> waits_{0};
};

}  // namespace millrace::queue
