#include "queue/waiting/spin.h"

#include <atomic>

#include "base/process/topology.h"

namespace millrace::queue::spin_budget {
namespace {

// Advice only: nothing is published through it, so relaxed order is enough.
std::atomic<int> busy_threads{0};

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

}  // namespace millrace::queue::spin_budget
