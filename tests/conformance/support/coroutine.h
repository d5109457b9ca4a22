// A coroutine for which no thread waits, and its result.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {

struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

// The status that a coroutine got, and the thread on which it continued. Thread-safe.
class Outcome {
 public:
  void set(Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    thread_ = std::this_thread::get_id();
    changed_.notify_all();
  }
  bool is_set() {
    const std::lock_guard lock(mutex_);
    return status_.has_value();
  }
  // The status, once there is one; kPending when there never is.
  Status await() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return status_.has_value(); });
    return status_.value_or(Status(StatusCode::kPending, "the coroutine did not go on"));
  }
  // Requirement: is_set().
  std::thread::id thread() {
    const std::lock_guard lock(mutex_);
    return thread_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> status_;
  std::thread::id thread_;
};

inline Coroutine collect(Job& job, Outcome& outcome) {
  outcome.set(co_await job);
}

}  // namespace millrace::conformance
