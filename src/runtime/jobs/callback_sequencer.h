// CallbackSequencer: hands the callbacks of a session to their strand, in the order of submission
// or of completion.
//
// The units of a session finish independently; in submission order a finished job's callback waits
// here until those of all jobs submitted before it have been handed over. Jobs without a callback
// take no part. Memory is kept for as many as ever waited, so that in steady state nothing is
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

  // Makes sure that there is a thread for callbacks; kResourceExhausted when the system refuses
  // one. To be called before reserve().
  Status start() { return strand_.start(); }

  // Sets memory aside for the callback, so that neither expect() nor its completion can fail.
  // Throws std::bad_alloc; then nothing has changed.
  queue::PreparedCall reserve(JobCallback callback);
  // Takes back a reservation that is not needed.
  void release() noexcept;
  // Uses a reservation: issues the next ticket, for the callback that reserve() gave.
  // `issue(ticket)` runs under the sequencer's lock and issues the job's id, so that ids and
  // tickets have the same order.
  template <class Issue>
  void expect(queue::PreparedCall callback, Issue&& issue) noexcept {
    const std::lock_guard lock(mutex_);
    --reserved_;
    pending_.push_back({.callback = std::move(callback)});
    issue(first_ + pending_.size() - 1);
  }

  // The job with that ticket is complete, which `publish()` makes visible to those who wait for it.
  // It runs under the sequencer's lock: a thread that has seen one job complete before another
  // finds their callbacks in that order. Each ticket exactly once.
  template <class Publish>
  void complete(Ticket ticket, SessionJobId id, const Status& status, Publish&& publish) {
    const std::lock_guard lock(mutex_);
    publish();
    complete_locked(ticket, id, status);
  }

  // Returns when every callback handed over so far has run; see queue::Strand::drain.
  void drain() { strand_.drain(); }
  // Whether the calling thread runs one of its callbacks.
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
  boost::circular_buffer<Pending> pending_{kFirstCapacity};
  size_t reserved_ = 0;  // callbacks that pending_ has room for besides those in it
};

}  // namespace millrace::runtime
