// CondvarQueue: the textbook peer for queue_bench: a bounded FIFO queue with one mutex, two
// condition variables and one worker thread. It has the same guarantees (ids without gaps, wait for
// an id).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace millrace::bench {

class CondvarQueue {
 public:
  explicit CondvarQueue(size_t depth) : depth_(depth), worker_([this] { run(); }) {}
  ~CondvarQueue() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    submitted_.notify_all();
    worker_.join();
  }

  // Returns the id of the job; 0 if the queue is full.
  uint64_t submit() {
    std::unique_lock lock(mutex_);
    if (issued_ - completed_count_ >= depth_) return 0;
    jobs_.push_back(++issued_);
    const uint64_t id = issued_;
    lock.unlock();
    submitted_.notify_one();
    return id;
  }
  void wait(uint64_t id) {
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [&] { return completed_count_ >= id; });
  }
  uint64_t completed() {
    const std::lock_guard lock(mutex_);
    return completed_count_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      submitted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const uint64_t id = jobs_.front();
      jobs_.pop_front();
      lock.unlock();  // a job would run here
      lock.lock();
      completed_count_ = id;
      completed_.notify_all();
    }
  }

  const size_t depth_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::deque<uint64_t> jobs_;
  uint64_t issued_ = 0;
  uint64_t completed_count_ = 0;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace millrace::bench
