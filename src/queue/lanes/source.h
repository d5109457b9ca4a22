// Source: the interface through which lanes take work from a unit (or from a SharedLoop). A source
// has at most one owner at a time, and its state says which.
//
//            a submitter, or the lane that looked again
//        +--------------------------------------------+
//        |                                            v
//      idle <---- the lane found nothing more ---- scheduled ---- reclaimed ----> closed
//        |                                                                          ^
//        +-------------------------------- reclaimed ------------------------------+
//
// idle       it has no owner, and no work that a thread has seen
// scheduled  it is owned by the ready list, or by the one lane that runs it or still holds it
// closed     it is owned for good by the thread that closes it
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "queue/requests/request.h"

namespace millrace::queue {

class Source : public std::enable_shared_from_this<Source> {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Returns whether the next request is ready. Thread-safe; for a thread that does not own the
  // source the result may be outdated. Reads with sequential consistency (see Lanes::Impl::let_go).
  virtual bool has_work() const noexcept = 0;
  // Returns the ticket of the next request: its position in the order of submission over all
  // sources of these lanes; 0 if there is none. Owner only.
  virtual uint64_t ticket() const noexcept = 0;
  // Runs and completes the next request, if there is one. Owner only. Returns false if the request
  // was given up while it ran: then the source has another owner, and the calling thread was set
  // aside. With kNoLane the request fails instead of running, and the result is true.
  virtual bool run_one(LaneId lane) noexcept = 0;
  // Returns whether threads that wait may run the requests of this source, because these are short.
  // Thread-safe; a heuristic.
  bool callers_may_run() const noexcept { return callers_may_run(INT64_MAX); }
  // The same, for a thread that has time for a request of `longest_ns`.
  virtual bool callers_may_run(int64_t longest_ns) const noexcept {
    static_cast<void>(longest_ns);
    return false;
  }
  // Returns whether the next request may be left to such threads and to lanes that are awake. Owner
  // only.
  virtual bool may_be_left() const noexcept { return false; }
  // Like run_one, on a thread that has borrowed the lane. Requirement: callers_may_run().
  virtual bool run_one_for_caller(LaneId lane) noexcept { return run_one(lane); }

 private:
  friend class ReadyList;
  friend class Lanes;

  enum class State : uint8_t { kIdle, kScheduled, kClosed };

  // Changes the state, and with it the owner; returns false if the state is not `from`. The
  // exchange acquires what the previous owner has released by its own change: the new owner sees
  // everything that the previous one did.
  bool try_move(State from, State to) noexcept {
    return state_.load(std::memory_order_seq_cst) == from &&
           state_.compare_exchange_strong(from, to, std::memory_order_seq_cst);
  }

  bool closing() const noexcept { return closing_.load(std::memory_order_seq_cst); }

  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> closing_{false};
  // These two are owned by the ready list.
  Source* next_in_inbox_ = nullptr;
  bool wakes_lane_ = true;  // see ReadyList::push
};

}  // namespace millrace::queue
