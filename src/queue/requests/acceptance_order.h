// AcceptanceOrder: numbers the requests of several units in the order in which they are accepted,
// from 1. Fault injection counts by these numbers, so that which request a fault affects does not
// depend on which lane comes to it first.
//
// Thread-safe. The lock makes accepting a request and giving it its number one step. It is taken
// only for units that have an order (UnitOptions).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace millrace::queue {

class AcceptanceOrder {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;

  // While the lock is held, no other thread has a request accepted. It may be taken again by the
  // same thread: a session holds it while a unit accepts the job, so that the job's id is in the
  // same order.
  Lock lock() { return Lock(mutex_); }

  // The number of the next request. Requirement: the lock is held.
  uint64_t accept() noexcept { return accepted_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // How many numbers have been given.
  uint64_t accepted() const noexcept { return accepted_.load(std::memory_order_relaxed); }

 private:
  std::recursive_mutex mutex_;
  std::atomic<uint64_t> accepted_{0};
};

}  // namespace millrace::queue
