// CallbackSequencer: posts the callbacks of a session to its strand, in the order of submission or
// of completion.
//
// The units of a session complete jobs independently. In the order of submission, the callback of a
// completed job waits here until those of all jobs submitted before it have been posted. Jobs
// without a callback take no part. Memory is kept for reuse, so in steady state nothing is
// allocated. Thread-safe.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/callbacks/strand.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

class CallbackSequencer {
 public:
  // The position of a callback in the order of submission, from 1.
  using Ticket = uint64_t;
  static constexpr Ticket kNoTicket = 0;

  // `name` is the session's, for the log.
  CallbackSequencer(CallbackOrder order, const std::string& name) : order_(order), strand_(name) {}

  // Starts the thread for callbacks if there is none; fails as queue::Strand::start. Must be called
  // before reserve().
  Status start() { return strand_.start(); }

  // Reserves memory for the callback, so that neither expect() nor its completion can fail. Throws
  // std::bad_alloc; then nothing has changed.
  queue::PreparedCall reserve(JobCallback callback);
  // Cancels a reservation that is not needed.
  void release() noexcept;
  // Uses a reservation: issues the next ticket, for a callback that reserve() has returned.
  // `issue(ticket)` is called under the sequencer's lock and issues the job's id, so that ids and
  // tickets have the same order.
  template <class Issue>
  void expect(queue::PreparedCall callback, Issue&& issue) noexcept {
    const std::lock_guard lock(mutex_);
    --reserved_;
    pending_.push_back({.callback = std::move(callback)});
    issue(first_ + pending_.size() - 1);
  }

  // Completes the job with that ticket: calls `publish()`, which makes the completion visible to
  // waiting threads, and posts the callbacks that are due. `publish()` is called under the
  // sequencer's lock, so that callbacks in the order of completion have the order in which the
  // completions become visible. Must be called exactly once for each ticket.
  template <class Publish>
  void complete(Ticket ticket, SessionJobId id, const Status& status, Publish&& publish) {
    const std::lock_guard lock(mutex_);
    publish();
    complete_locked(ticket, id, status);
  }

  // Waits until every callback posted so far has run; see queue::Strand::drain.
  void drain() { strand_.drain(); }
  // Returns whether the calling thread runs one of these callbacks.
  bool runs_on_this_thread() const noexcept { return strand_.runs_on_this_thread(); }

 private:
  struct Pending {
    queue::PreparedCall callback{};
    bool completed = false;
  };
  static constexpr size_t kFirstCapacity = 16;

  void complete_locked(Ticket ticket, SessionJobId id, const Status& status);
  void post_ready();

  const CallbackOrder order_;
  queue::Strand strand_;
  std::mutex mutex_;
  Ticket first_ = 1;  // the ticket of pending_.front()
  // The callbacks from the first job on that is not completed, in the order of their tickets.
  boost::circular_buffer<Pending> pending_{kFirstCapacity};
  size_t reserved_ = 0;  // free capacity of pending_ that is reserved
};

}  // namespace millrace::runtime
