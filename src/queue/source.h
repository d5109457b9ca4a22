// Source: what lanes take work from. A unit is one; lanes know nothing else about units.
//
//            a submitter, or the lane that looked again
//        +--------------------------------------------+
//        |                                            v
//      idle <---- the lane found nothing more ---- scheduled ---- reclaimed ----> closed
//        |                                                                          ^
//        +-------------------------------- reclaimed ------------------------------+
//
// idle       nobody owns it; it has no work that anyone has seen
// scheduled  owned: by the ready list, or by the one lane that runs it or still holds it
// closed     owned by its destroyer, for good
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "queue/request.h"

namespace millrace::queue {

class Source : public std::enable_shared_from_this<Source> {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Whether the next request is ready. Any thread; the answer of a thread that does not own the
  // source may be out of date. Reads with sequential consistency (see Lanes::Impl::let_go).
  virtual bool has_work() const noexcept = 0;
  // The place of the next request in the order of submission over all sources of these lanes; 0
  // when there is none. Owner only.
  virtual uint64_t ticket() const noexcept = 0;
  // Runs the next request, if there is one, to the end of its completion. Owner only. False: the
  // request was given up while it ran, the source has another owner, and nobody waits for this
  // thread any more. On kNoLane requests fail instead of running.
  virtual bool run_one(LaneId lane) noexcept = 0;

 private:
  friend class ReadyList;
  friend class Lanes;

  enum class State : uint8_t { kIdle, kScheduled, kClosed };

  // Takes an idle source. The exchange orders the new owner after everything the old one did.
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
