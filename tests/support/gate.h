// TaskGate: a test's task waits at it, so that the test decides when the task continues.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace millrace::test {

class TaskGate {
 public:
  TaskGate() = default;
  TaskGate(const TaskGate&) = delete;
  TaskGate& operator=(const TaskGate&) = delete;
  // Opens the gate and returns when all threads that have arrived are through, so that a gate may
  // be destroyed before the lanes whose tasks wait at it.
  ~TaskGate() {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return inside_ == 0; });
  }

  // Blocks while the gate is closed. Counts as an arrival, open or not.
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrivals_;
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --inside_;
    changed_.notify_all();
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
  size_t inside_ = 0;  // threads in pass()
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
