// Strand: the callbacks of one unit or session, and the coroutines that wait for its requests. They
// run one at a time, in the order posted, on a thread of the dispatcher.
//
// Thread-safe; all functions may be called from callbacks, too.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "queue/callbacks/dispatcher.h"
#include "queue/callbacks/prepared_call.h"

namespace millrace::queue {

class Strand {
 public:
  // `name` is for the log. Throws std::bad_alloc.
  explicit Strand(std::string name,
                  std::shared_ptr<Dispatcher> dispatcher = Dispatcher::instance());
  // Calls that were posted run all the same.
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // Makes sure that there is a thread: a program without callbacks has none; and one with callbacks
  // of several strands has the monitor, too. To be called before a call is posted.
  // kResourceExhausted when the system refuses a thread, kOutOfMemory, kForked.
  Status start() noexcept;

  // Runs the call on a thread of the dispatcher, with the result that it has. What it throws is
  // caught and logged; one that ends its thread (pthread_exit) ends the call, and another thread
  // goes on with the next. Allocates nothing.
  void post(PreparedCall call) noexcept;

  // Returns when everything posted before has run; a line in the log says when that takes long. On
  // a thread of the dispatcher it waits only for a call that runs on another one; the calls that
  // are left run afterwards. While the process exits it waits no longer than the
  // dispatcher's patience for a call, whose thread goes on until the process ends.
  void drain();
  // Whether the calling thread runs a call of this strand.
  bool runs_on_this_thread() const noexcept;

  struct State;  // for Dispatcher

 private:
  const std::shared_ptr<Dispatcher> dispatcher_;
  const std::shared_ptr<State> state_;
};

}  // namespace millrace::queue
