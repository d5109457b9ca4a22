// StdSync: the synchronisation primitives of the ring and the wait list. They take it as a template
// argument, so that tests/model_check can run the same code on primitives that explore
// interleavings.
#pragma once

#include <atomic>
#include <mutex>

#include "queue/waiting/parker.h"

namespace millrace::queue {

struct StdSync {
  template <class T>
  using Atomic = std::atomic<T>;
  using Mutex = std::mutex;
  using Parker = queue::Parker;
};

}  // namespace millrace::queue
