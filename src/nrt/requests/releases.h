// Releases: counts the completed requests of a unit that have not yet dropped their references to
// memory. A completion is published before the references are dropped, so memory that the program
// frees after a completion may stay allocated for a moment. Calls whose results depend on that
// memory wait until the count is zero. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nrt {

class Releases {
 public:
  // Call begin() before the completion is published, and end() after the references are dropped.
  void begin() noexcept { pending_.fetch_add(1, std::memory_order_relaxed); }
  void end() noexcept { pending_.fetch_sub(1, std::memory_order_release); }

  // A thread that has seen a completion, and then sees true here, finds the memory of the request
  // released: the acquire pairs with the release in end().
  bool none_pending() const noexcept { return pending_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<uint32_t> pending_{0};
};

}  // namespace millrace::nrt
