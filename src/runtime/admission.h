// Admission: how many jobs a session has accepted and not completed, and who waits for room.
//
// Any thread. Taking and giving back are one atomic operation each unless somebody waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace millrace::runtime {

class Admission {
 public:
  explicit Admission(uint32_t limit) noexcept : limit_(limit) {}

  // Takes a place; false when all are taken.
  bool try_enter() noexcept {
    // Sequentially consistent, as all here: see enter().
    uint32_t taken = taken_.load();
    while (taken < limit_) {
      if (taken_.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
  }

  // Takes a place, waiting until there is one.
  void enter() {
    if (try_enter()) return;
    std::unique_lock lock(mutex_);
    waiters_.fetch_add(1);
    // Here the count is written and then the places are read, in leave() the other way round. In
    // the one order of all four, either this try sees the place given back or leave() sees the
    // waiter.
    room_.wait(lock, [this] { return try_enter(); });
    waiters_.fetch_sub(1);
  }

  // Gives a place back.
  void leave() noexcept {
    taken_.fetch_sub(1);
    if (waiters_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    room_.notify_one();
  }

 private:
  const uint32_t limit_;
  std::atomic<uint32_t> taken_{0};
  std::atomic<uint32_t> waiters_{0};
  std::mutex mutex_;
  std::condition_variable room_;
};

}  // namespace millrace::runtime
