// Sleepers: tracks which lanes search for work, which sleep (are parked) and which are borrowed,
// and decides when a lane has to be woken. Thread-safe.
//
//   running --no work left--> searching --nothing found--> parked --borrow()--> borrowed
//      ^                        |  ^                         |  ^                  |
//      +------found work--------+  +------------woken--------+  +---give_back()----+
//
// Invariant: while a source is ready and a lane is parked, at least one lane is searching; a lane
// counts as searching from the moment at which another thread decides to wake it. Four steps keep
// the invariant: the thread that adds to the ready list calls wake_one; a lane that stops searching
// because it found work calls wake_one if more work is left; a lane reads the list once more before
// it sleeps; and so does the thread that gives a borrowed lane back.
//
// `searching_`, the parked bits and the size of the ready list are accessed with sequential
// consistency throughout. A thread that adds work writes the size and then reads `searching_` and
// the bits; a lane writes its bit and `searching_` and then reads the size. In the single order of
// all these accesses, at least one of the two threads sees what the other has written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "queue/requests/request.h"
#include "queue/waiting/parker.h"

namespace millrace::queue {

class Sleepers {
 public:
  // For lanes with ids 0 to id_limit - 1.
  explicit Sleepers(uint32_t id_limit)
      : parked_((id_limit + 63) / 64),
        woken_at_ns_(id_limit),
        parkers_(std::make_unique<Parker[]>(id_limit)),
        id_limit_(id_limit) {}

  void begin_search() noexcept { searching_.fetch_add(1, std::memory_order_seq_cst); }
  void end_search() noexcept { searching_.fetch_sub(1, std::memory_order_seq_cst); }

  // Wakes a parked lane if there is one and no lane is searching. Call after adding work. Makes a
  // system call only if it wakes a lane.
  void wake_one() noexcept { wake(1); }
  // Wakes parked lanes until `searchers` lanes are searching or none is parked. Returns how many it
  // has woken.
  uint32_t wake(uint32_t searchers) noexcept;
  // Returns the number of lanes that are searching; may be outdated.
  uint32_t searching() const noexcept { return searching_.load(std::memory_order_seq_cst); }
  // Returns whether wake() would wake a lane now.
  bool could_wake(uint32_t searchers) const noexcept;
  // Returns whether a lane is parked, neither searching nor borrowed; may be outdated.
  bool any_parked() const noexcept;

  // Called by a searching lane. Sleeps until woken, unless `has_work()` returns true. The lane is
  // searching again when this returns. Returns false once stop() was called.
  template <class HasWork>
  bool park(LaneId lane, HasWork&& has_work) {
    // The lane becomes parked before it stops searching, so that a thread that adds work sees it in
    // at least one of the two states.
    set_parked(lane);
    searching_.fetch_sub(1, std::memory_order_seq_cst);
    if (has_work() || stopped()) {
      if (clear_parked(lane)) {
        searching_.fetch_add(1, std::memory_order_seq_cst);
        return !stopped();
      }
      // Another thread has woken or borrowed this lane. If it is borrowed, another lane has to run
      // the work that was seen.
      wake_one();
    }
    sleep(lane);
    return !stopped();
  }

  // Takes the id of a parked lane, for a thread that runs a request in its place while the lane
  // goes on sleeping. Returns kNoLane if no lane is parked.
  LaneId borrow() noexcept { return take_parked(); }
  // Gives the lane back. `has_work` as in park.
  template <class HasWork>
  void give_back(LaneId lane, HasWork&& has_work) noexcept {
    set_parked(lane);
    if (has_work()) wake_one();
  }

  // Returns how long it takes from waking a lane until it runs, as measured lately; 0 if no lane
  // has been woken yet.
  int64_t wake_ns() const noexcept { return wake_ns_.load(std::memory_order_relaxed); }

  // Wakes every lane; from now on none sleeps.
  void stop() noexcept;

 private:
  bool stopped() const noexcept { return stopped_.load(std::memory_order_seq_cst); }
  void set_parked(LaneId lane) noexcept {
    parked_[lane / 64].fetch_or(bit(lane), std::memory_order_seq_cst);
  }
  // Returns true if the lane was parked, false if another thread has woken or borrowed it.
  bool clear_parked(LaneId lane) noexcept {
    return (parked_[lane / 64].fetch_and(~bit(lane), std::memory_order_seq_cst) & bit(lane)) != 0;
  }
  LaneId take_parked() noexcept;
  void sleep(LaneId lane) noexcept;
  void note_wake(LaneId lane) noexcept;
  static uint64_t bit(LaneId lane) noexcept { return uint64_t{1} << (lane % 64); }

  // Read with every wait, written when a lane falls asleep or is woken.
  alignas(64) std::atomic<bool> stopped_{false};
  std::vector<std::atomic<uint64_t>> parked_;  // one bit per lane
  // When a lane was woken that has not yet run; 0 for others. Measurements only: relaxed.
  std::vector<std::atomic<int64_t>> woken_at_ns_;
  std::atomic<int64_t> wake_ns_{0};
  const std::unique_ptr<Parker[]> parkers_;  // by lane
  const uint32_t id_limit_;
  alignas(64) std::atomic<uint32_t> searching_{0};  // written with every request
};

}  // namespace millrace::queue
