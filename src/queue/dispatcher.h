// Dispatcher: the one thread of the process on which users' callbacks run, in the order posted.
// Callbacks therefore never delay a lane, and a slow callback delays only other callbacks.
//
// Thread-safe; all functions may be called from callbacks, too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"

namespace millrace::queue {

// A callback of the dispatcher. It receives the id of a request or job, and its status.
using Notice = std::function<void(uint64_t id, const Status& status)>;

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

  // Starts the thread unless it runs: a program without callbacks has none.
  // kResourceExhausted when the system refuses one. post does the same, but can only log the
  // refusal; the call is then kept and runs once a later start succeeds.
  Status start();

  // Calls notice(id, status) on the dispatcher's thread. What it throws is caught and logged. In
  // steady state nothing is allocated here.
  void post(Notice notice, uint64_t id, Status status);
  // Returns when everything posted before has run. At once on the dispatcher's own thread.
  void drain();
  bool on_this_thread() const noexcept;

 private:
  class Impl;
  // Shared with the thread, which outlives the dispatcher when a callback drops the last pointer.
  std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::queue
