// Source: an object from which lanes take work. A unit is one; lanes know nothing else about units.
//
//            a submitter, or the lane that looked again
//        +--------------------------------------------+
//        |                                            v
//      idle <---- the lane found nothing more ---- scheduled ---- reclaimed ----> closed
//        |                                                                          ^
//        +-------------------------------- reclaimed ------------------------------+
//
// idle       has no owner, and no work that a thread has seen
// scheduled  owned by the ready list, or by the one lane that runs it or still holds it
// closed     owned for good by the thread that closes it
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

  // Whether the next request is ready. Thread-safe; for a thread that does not own the source the
  // answer may be out of date. Reads with sequential consistency (see Lanes::Impl::let_go).
  virtual bool has_work() const noexcept = 0;
  // The ticket of the next request: its position in the order of submission over all sources of
  // these lanes; 0 when there is none. Owner only.
  virtual uint64_t ticket() const noexcept = 0;
  // Runs the next request, if there is one, to the end of its completion. Owner only. False: the
  // request was given up while it ran, the source has another owner, and no thread waits for the
  // calling one any more. On kNoLane the request fails instead of running, and the answer is true.
  virtual bool run_one(LaneId lane) noexcept = 0;

 private:
  friend class ReadyList;
  friend class Lanes;

  enum class State : uint8_t { kIdle, kScheduled, kClosed };

  // Changes the state, and with it the owner. The exchange acquires what the previous owner has
  // released with its own change: the new owner sees everything that the previous one did.
  bool try_move(State from, State to) noexcept {
    return state_.load(std::memory_order_seq_cst) == from &&
           state_.compare_exchange_strong(from, to, std::memory_order_seq_cst);
  }

  bool closing() const noexcept { return closing_.load(std::memory_order_seq_cst); }

  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> closing_{false};
  Source* next_in_inbox_ = nullptr;  // owned by the ready list
};

}  // namespace millrace::queue
