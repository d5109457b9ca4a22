// Task, the work that an execution unit runs for a request, and Completion, its result.
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

// The work of one request. A unit owns its tasks, creates them once and reuses them, so nothing is
// allocated per request: a submitter fills a task in, a lane runs it, and release() drops the
// references of the request.
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
  // request's status. A long task reports each piece of work to `control` as it begins. Between two
  // pieces it checks control.stop_requested(), and returns control.stop_status() if that is true.
  virtual Status run(RunControl& control) noexcept = 0;
  // Called before the sequence is published: writes the status where the caller will look for it.
  virtual void write_status(const Completion&) noexcept {}
  // Called after the sequence was published and before any waiter is woken.
  virtual void on_published(const Completion&) noexcept {}
  // Called last: drops references and keeps allocated memory for the next request.
  virtual void release() noexcept = 0;
  // Names the partition, operator and buffer at `position`, for the report about a request that
  // hangs there. Called while run() is active on another thread.
  virtual std::string describe(const RunPosition&) const { return {}; }

  // For the unit, which sets the number (see AcceptanceOrder) when it accepts the request. While
  // the request runs, RunControl::number() returns it.
  void set_number(uint64_t number) noexcept { number_ = number; }
  uint64_t number() const noexcept { return number_; }

 private:
  uint64_t number_ = 0;  // 0 for units without an acceptance order
};

// A completion callback. Called once per request that was submitted with it, on a dispatcher
// thread, after the sequence was published. It may submit requests and wait for others; an
// exception that it throws is caught and logged.
using Callback = Notice;

}  // namespace millrace::queue
