// Dispatcher: the one thread of the process on which users' callbacks run, in the order posted.
// Made on first use. Callbacks therefore never delay a lane, and a slow callback delays only other
// callbacks.
#pragma once

#include <functional>
#include <memory>

namespace millrace::queue {

class Dispatcher {
 public:
  // The dispatcher of the process; keep the pointer while callbacks may still be posted. The thread
  // ends after the last pointer is gone and the posted calls are done.
  static std::shared_ptr<Dispatcher> instance();

  Dispatcher();
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Runs `call` on the dispatcher's thread. What it throws is caught and logged.
  void post(std::function<void()> call);
  // Returns when everything posted before has run. At once on the dispatcher's own thread.
  void drain();
  bool on_this_thread() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::queue
