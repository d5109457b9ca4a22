// AcceptanceOrder: numbers the requests of several units from 1, in the order in which the units
// accept them. Fault injection selects requests by these numbers, so the affected request does not
// depend on the scheduling of the lanes.
//
// Thread-safe. A request is accepted and numbered atomically, under the lock. Only units that have
// UnitOptions::acceptance_order take it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace millrace::queue {

class AcceptanceOrder {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;

  // While the lock is held, no request of another thread is accepted. The lock is recursive: a
  // session holds it while a unit accepts the job, so that job ids follow the same order.
  Lock lock() { return Lock(mutex_); }

  // Returns the number of the next request. Requirement: the lock is held.
  uint64_t accept() noexcept { return accepted_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // Returns how many requests have been numbered.
  uint64_t accepted() const noexcept { return accepted_.load(std::memory_order_relaxed); }

 private:
  std::recursive_mutex mutex_;
  std::atomic<uint64_t> accepted_{0};
};

}  // namespace millrace::queue
