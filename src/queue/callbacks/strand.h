// Strand: serialises the callbacks of one unit or session, and the coroutines that wait for its
// requests (as a strand of Boost.Asio). They run one at a time, in the order in which they were
// posted, on threads of the dispatcher.
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
  // `name` appears in the log. Throws std::bad_alloc.
  explicit Strand(std::string name,
                  std::shared_ptr<Dispatcher> dispatcher = Dispatcher::instance());
  // Calls that were posted still run.
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // Starts the dispatcher's first thread if there is none, and the monitor if there are several
  // strands. Must be called before a call is posted. Fails with kResourceExhausted when the system
  // refuses a thread, or with kOutOfMemory or kForked.
  Status start() noexcept;

  // Queues the call, whose result is set, to run on a thread of the dispatcher. An exception that
  // it throws is caught and logged. If it ends its thread (pthread_exit), it counts as done, and
  // another thread goes on with the next call. Allocates nothing.
  void post(PreparedCall call) noexcept;

  // Waits until all calls that were posted before have run; logs a line if that takes long. On a
  // thread of the dispatcher it waits only for a call that runs on another one, and the remaining
  // calls run afterwards. While the process exits it waits no longer than the dispatcher's
  // patience; the thread of a call that takes longer runs until the process ends.
  void drain();
  // Returns whether the calling thread runs a call of this strand.
  bool runs_on_this_thread() const noexcept;

  struct State;  // for Dispatcher

 private:
  const std::shared_ptr<Dispatcher> dispatcher_;
  const std::shared_ptr<State> state_;
};

}  // namespace millrace::queue
