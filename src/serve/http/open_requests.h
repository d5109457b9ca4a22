// OpenRequests: counts the requests that a server has accepted and not answered, so that its end
// can wait for them. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace millrace::serve {

class OpenRequests {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) none_.notify_all();
  }
  // Waits until there is none. False if `limit` passed first.
  bool wait_for_none(std::chrono::steady_clock::time_point limit) {
    std::unique_lock lock(mutex_);
    return none_.wait_until(lock, limit, [this] { return open_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  uint64_t open_ = 0;
};

}  // namespace millrace::serve
