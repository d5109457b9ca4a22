#include "queue/ring.h"

namespace millrace::queue {

Ring::Claim Ring::claim(uint64_t& counter) noexcept {
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    if ((tail & kClosedBit) != 0) return Claim::kClosed;
    if (is_full(tail)) {
      const uint64_t again = tail_.load(std::memory_order_relaxed);
      if (again == tail) return Claim::kFull;
      tail = again;
      continue;
    }
    // Release: pairs with the fetch_or in close(), which must see this submitter inside.
    if (tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_release,
                                    std::memory_order_relaxed)) {
      counter = tail + 1;
      return Claim::kOk;
    }
  }
}

// Exact if `tail` is still the newest: completions only make room, and a claim after an answer
// "not full" succeeds only while `tail` is unchanged. Acquire and release: whoever claims a slot
// has seen the completion that freed it, whether it read the owner's line or another submitter's
// copy of it.
bool Ring::is_full(uint64_t tail) noexcept {
  // A copy newer than `tail` makes the difference negative: not full, and the claim will fail.
  const auto taken = [&](uint64_t completed) { return static_cast<int64_t>(tail - completed); };
  if (taken(completed_seen_.load(std::memory_order_acquire)) < depth_) return false;
  const uint64_t completed = completed_.load(std::memory_order_acquire);
  completed_seen_.store(completed, std::memory_order_release);
  return taken(completed) >= depth_;
}

}  // namespace millrace::queue
