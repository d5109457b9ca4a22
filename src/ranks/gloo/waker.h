// Waker: ends the waits on Gloo's buffers from time to time, so that the waiting threads can see
// whether they should go on. Gloo itself knows one limit only, at which it gives up everything.
#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"

namespace millrace::ranks {

class Waker {
 public:
  // kResourceExhausted when the system refuses a thread.
  static Result<std::unique_ptr<Waker>> start();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // For as long as it lives, waits on the buffer return false every 50 ms. One that is ended so may
  // also be the next one.
  class Waiting {
   public:
    Waiting(Waker& waker, gloo::transport::UnboundBuffer& buffer);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Waker& waker_;
    gloo::transport::UnboundBuffer& buffer_;
  };

 private:
  Waker() = default;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool asleep_ = false;  // until a thread waits
  std::vector<gloo::transport::UnboundBuffer*> waiting_;
  std::thread thread_;
};

}  // namespace millrace::ranks
