// Cancels a thread of the program while it is inside a call.
#pragma once

#include <pthread.h>

#include <functional>
#include <utility>

namespace millrace::test {

// A thread that makes a call with a cancellation pending, which takes effect at the first
// cancellation point: within the call, if there is one.
class CancelledThread {
 public:
  explicit CancelledThread(std::function<void()> call) : call_(std::move(call)) {
    pthread_create(&thread_, nullptr, run, this);
  }
  CancelledThread(const CancelledThread&) = delete;
  CancelledThread& operator=(const CancelledThread&) = delete;

  // Whether the thread was cancelled, but only after the call had returned. To be called once.
  bool ended_after_the_call() {
    void* result = nullptr;
    pthread_join(thread_, &result);
    return result == PTHREAD_CANCELED && returned_;
  }

 private:
  static void* run(void* self) {
    auto& own = *static_cast<CancelledThread*>(self);
    pthread_cancel(pthread_self());
    own.call_();
    own.returned_ = true;
    pthread_testcancel();
    return nullptr;
  }

  const std::function<void()> call_;
  pthread_t thread_{};
  bool returned_ = false;
};

}  // namespace millrace::test
