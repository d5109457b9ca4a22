// CallerCredit: whether threads that wait have run ready requests lately, instead of lanes.
//
// As long as they do, waking a lane for a short request costs more than it gains: the thread that
// waits would have run the request by the time the lane is awake, and then has to sleep itself,
// since there are no more cores than lanes. Lanes that take requests use the credit up. A heuristic
// that publishes nothing. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace millrace::queue {

class CallerCredit {
 public:
  bool any() const noexcept { return credit() > 0; }
  // Notes that a thread which waits has run a request.
  void caller_ran() noexcept {
    const int32_t now = credit();
    change(now, std::min(now + kPerRequest, kMost));
  }
  // Notes that a thread which waits would run requests, but has no lane to borrow: lanes step back
  // (Lanes::Impl::want_lane), and the next requests are for that thread.
  void caller_waits() noexcept {
    const int32_t now = credit();
    change(now, std::max(now, kOfWait));
  }
  // Notes that a lane has taken a request from the ready list.
  void lane_took() noexcept {
    if (const int32_t now = credit(); now > 0) change(now, now - 1);
  }
  // Takes all credit away, for good.
  void forbid() noexcept { credit_.store(kForbidden, std::memory_order_relaxed); }

 private:
  static constexpr int32_t kMost = 64, kPerRequest = 4, kOfWait = 32;
  static constexpr int32_t kForbidden = INT32_MIN;

  int32_t credit() const noexcept { return credit_.load(std::memory_order_relaxed); }
  // Most calls change nothing, and must not take the cache line from the threads that read it. If
  // another thread changes the credit at the same time, its change holds.
  void change(int32_t from, int32_t to) noexcept {
    if (from != to && from != kForbidden)
      credit_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  alignas(64) std::atomic<int32_t> credit_{0};
};

}  // namespace millrace::queue
