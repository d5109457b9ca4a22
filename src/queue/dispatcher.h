// Dispatcher: the one thread of the process on which users' callbacks run, in the order posted.
// Callbacks therefore never delay a lane, and a slow callback delays only other callbacks.
//
// Thread-safe; all functions may be called from callbacks, too.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.h"
#include "queue/prepared_call.h"

namespace millrace::queue {

class Dispatcher {
 public:
  // The dispatcher of the process; keep the pointer while callbacks may still be posted. The thread
  // ends after the last pointer is gone and the posted calls are done.
  static std::shared_ptr<Dispatcher> instance();

  Dispatcher();
  // Waits until the posted calls are done, except on the dispatcher's own thread: there it returns
  // at once and the calls run afterwards.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Starts the thread unless it runs: a program without callbacks has none. To be called before
  // the first call is posted. kResourceExhausted when the system refuses a thread, kOutOfMemory.
  Status start() noexcept;

  // Runs the call on the dispatcher's thread, with the result that it has. What it throws is caught
  // and logged. Allocates nothing.
  void post(PreparedCall call) noexcept;
  // Returns when everything posted before has run. At once on the dispatcher's own thread.
  void drain();
  bool on_this_thread() const noexcept;

 private:
  class Impl;
  // Shared with the thread, which outlives the dispatcher when a callback drops the last pointer.
  std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::queue
