// Bounded spinning: how a thread that expects news within microseconds waits without sleeping.
//
// Sleeping costs tens of microseconds to undo, spinning costs a core. So every spin here is bounded
// in time, and threads spin only while lanes at work and spinning threads together fit the cores
// this process may use. Any thread.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace millrace::queue {

// Tells the processor that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Counts the threads that hold a core on our account: lanes that are awake and waiters that spin.
namespace spin_budget {
void take() noexcept;
void give() noexcept;
// Whether the threads counted, the caller included, fit the cores.
bool fits() noexcept;
}  // namespace spin_budget

// Calls `done` until it returns true or `limit` has passed; returns what it returned last. It is
// called at least once.
template <class Done>
bool spin_until(Done&& done, std::chrono::nanoseconds limit) {
  if (done()) return true;
  const int64_t deadline = now_ns() + limit.count();
  do {
    cpu_relax();
    if (done()) return true;
  } while (now_ns() < deadline);
  return false;
}

}  // namespace millrace::queue
