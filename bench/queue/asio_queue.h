// AsioQueue: a peer for queue_bench: boost::asio::post to an io_context that one thread runs. It
// adds a limit on the jobs in flight, which Asio does not have. wait() spins on a counter, since
// Asio has no wait for one handler.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <thread>

#include "queue/waiting/spin.h"

namespace millrace::bench {

class AsioQueue {
 public:
  explicit AsioQueue(int64_t depth) : depth_(depth), worker_([this] { context_.run(); }) {}
  ~AsioQueue() {
    work_.reset();
    worker_.join();
  }
  AsioQueue(const AsioQueue&) = delete;
  AsioQueue& operator=(const AsioQueue&) = delete;

  // Returns the id of the job; 0 if the queue is full.
  uint64_t submit() {
    int64_t issued = issued_.load(std::memory_order_relaxed);
    do {
      if (issued - completed_.load(std::memory_order_acquire) >= depth_) return 0;
    } while (!issued_.compare_exchange_weak(issued, issued + 1, std::memory_order_relaxed));
    boost::asio::post(context_, [this] { complete(); });
    return static_cast<uint64_t>(issued + 1);
  }
  void wait(uint64_t id) const {
    while (completed() < id) queue::cpu_relax();
  }
  // Acquire pairs with complete(), as it has to for a caller that reads outputs.
  uint64_t completed() const {
    return static_cast<uint64_t>(completed_.load(std::memory_order_acquire));
  }

 private:
  void complete() {
    completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  const int64_t depth_;
  // The concurrency hint of one thread lets Asio omit some of its locking.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  alignas(64) std::atomic<int64_t> issued_{0};
  alignas(64) std::atomic<int64_t> completed_{0};
  std::thread worker_;
};

}  // namespace millrace::bench
