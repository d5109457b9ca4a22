// Places: a number of places, of which each job that is under way has one.
#pragma once

#include <condition_variable>
#include <mutex>

// Thread-safe.
class Places {
 public:
  explicit Places(unsigned count) : count_(count), free_(count) {}

  // Waits for a free place.
  void take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return free_ > 0; });
    --free_;
  }
  void give_back() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++free_;
    changed_.notify_all();
  }
  void wait_for_all() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return free_ == count_; });
  }

 private:
  const unsigned count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned free_;
};
