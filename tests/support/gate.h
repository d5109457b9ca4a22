// TaskGate: a test's task waits at it, so that the test decides when the task continues.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace millrace::test {

class TaskGate {
 public:
  // Blocks while the gate is closed. Counts as an arrival, open or not.
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrivals_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Lets all threads pass, now and later.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Returns when `count` threads have arrived since the gate was made.
  void await_arrivals(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrivals_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t arrivals_ = 0;
  bool open_ = false;
};

// ReusableBarrier: no thread leaves it before `size` threads have arrived. Thread-safe.
class ReusableBarrier {
 public:
  explicit ReusableBarrier(size_t size) : size_(size) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const size_t round = arrivals_ / size_;
    ++arrivals_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return arrivals_ / size_ > round; });
  }

 private:
  const size_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t arrivals_ = 0;
};

}  // namespace millrace::test
