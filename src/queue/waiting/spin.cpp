#include "queue/waiting/spin.h"

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/process/topology.h"

namespace millrace::queue::spin_budget {
namespace {

// Heuristics only: nothing is published through these, so relaxed order is enough.
std::atomic<int> busy_threads{0};
std::atomic<int64_t> shared_until_ns{0};

}  // namespace

void take() noexcept {
  busy_threads.fetch_add(1, std::memory_order_relaxed);
}

void give() noexcept {
  busy_threads.fetch_sub(1, std::memory_order_relaxed);
}

bool fits() noexcept {
  return busy_threads.load(std::memory_order_relaxed) <= topology().core_budget;
}

void note_lost_core() noexcept {
  constexpr int64_t kSharedNs = 1'000'000'000;
  shared_until_ns.store(now_ns() + kSharedNs, std::memory_order_relaxed);
}

std::chrono::nanoseconds beside_others(std::chrono::nanoseconds usual) noexcept {
  constexpr std::chrono::microseconds kMost{20};
  const bool shared = now_ns() < shared_until_ns.load(std::memory_order_relaxed);
  return shared ? std::min<std::chrono::nanoseconds>(usual, kMost) : usual;
}

}  // namespace millrace::queue::spin_budget
