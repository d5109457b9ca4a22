// The work that an execution unit runs, and what is known when it is done.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "queue/callbacks/prepared_call.h"
#include "queue/requests/ids.h"
#include "queue/requests/run_control.h"

namespace millrace::queue {

struct Completion {
  SequenceId sequence = 0;
  Status status;
};

// The work of one request. A unit owns the tasks, makes them once and reuses them: a submitter
// fills one in, a lane runs it, and release() drops what the request referred to. So nothing is
// allocated per request.
//
//   filled -> run -> write_status -> [sequence published] -> on_published -> release
//
// A request that never starts (cancelled, dropped, its deadline passed, its unit degraded) takes
// the same steps without run(). The steps of one request never overlap, and each sees the writes of
// the one before, with one exception: when a request hangs, write_status() and on_published() are
// called on another thread while run() has not returned; release() then follows on the thread that
// hung, once run() returns.
class Task {
 public:
  virtual ~Task() = default;
  // Called on a lane, or on a thread that has borrowed one. Writes the outputs and returns the
  // request's status. A long task reports to `control` each piece of work that it begins, and
  // returns control.stop_status() between two of them once control.stop_requested().
  virtual Status run(RunControl& control) noexcept = 0;
  // Called before the sequence is published: writes the status where the caller will look for it.
  virtual void write_status(const Completion&) noexcept {}
  // Called after the sequence was published and before any waiter is woken.
  virtual void on_published(const Completion&) noexcept {}
  // Called last: drops references, keeps capacity.
  virtual void release() noexcept = 0;
  // For the report about a request that hung at `position`: partition, operator and buffer by name.
  // Called while run() is inside.
  virtual std::string describe(const RunPosition&) const { return {}; }

  // For the unit, which gives the number to the task when it accepts the request: RunControl has it
  // while the request runs.
  void set_number(uint64_t number) noexcept { number_ = number; }
  uint64_t number() const noexcept { return number_; }

 private:
  uint64_t number_ = 0;  // stays 0 where nothing numbers the requests
};

// Called once per request that was submitted with it, on a dispatcher thread, after the sequence
// was published. It may submit, and may wait for other requests; what it throws is caught and
// logged.
using Callback = Notice;

}  // namespace millrace::queue
