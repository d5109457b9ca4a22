// Releases: how many completed requests of a unit still hold what they worked on. A request is seen
// to be complete before it lets go, so memory that the program frees then may be in use for a
// moment longer.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nrt {

class Releases {
 public:
  // Before the completion is published, and when nothing is held any more.
  void begin() noexcept { pending_.fetch_add(1, std::memory_order_relaxed); }
  void end() noexcept { pending_.fetch_sub(1, std::memory_order_release); }

  // Whoever has seen a completion, and then this, finds its memory given back.
  bool none_pending() const noexcept { return pending_.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<uint32_t> pending_{0};
};

}  // namespace millrace::nrt
