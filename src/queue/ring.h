// Ring: the fixed storage of a unit's requests, from the claim of a place until they are done.
//
//                         +--------- the owner ---------+
//   claim -> kReady --take--> kTaken --vacate--> kVacant (running, then complete)
//                         |
//                         +-- a withdrawer --> kTaken --settle--> kSettled --vacate--> kGone
//                                                                                (the owner passes)
//
// Any number of submitters and withdrawers; one owner at a time (the lane that holds the unit, or
// its destroyer). Counters run from 1 without gaps; the request with counter c is kept in cell c
// modulo the number of cells, until it starts or is withdrawn. Requests that start do so in order;
// the one that runs is no longer in its cell, so a request that never ends does not stop the
// cells behind it from being used again.
//
// A request has a place (one of `depth`) from its claim until complete() or settle(). There are
// more cells than places, because a cell cannot be skipped: behind a request that waits, the cells
// of withdrawn ones stay empty until it starts.
//
// `Request` is what a cell stores. It belongs to the submitter from claim to publish, and to
// whoever took it afterwards, until vacate: only then is the cell used again.
//
// `Sync` gives the primitives: see sync.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "queue/sync.h"

namespace millrace::queue {

template <class Request, class Sync = StdSync>
class Ring {
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

 public:
  enum class Claim : uint8_t { kOk, kFull, kClosed };
  // What the owner finds at a counter.
  enum class Look : uint8_t {
    kNothing,  // not published, or somebody is just withdrawing it
    kReady,    // take it and run it
    kPassed,   // withdrawn: pass it
  };

  // How many withdrawn requests there may be behind one that does not end; the results of no more
  // are kept anyway.
  static constexpr uint64_t kMaxAhead = 65'536;
  // A few more than places, for requests withdrawn behind one that waits.
  static constexpr uint64_t kMinCells = 128;

  explicit Ring(uint32_t depth, uint64_t min_cells = kMinCells)
      : depth_(depth),
        mask_(std::bit_ceil(std::max<uint64_t>(uint64_t{depth} + 2, min_cells)) - 1),
        cells_(std::make_unique<Cell[]>(mask_ + 1)) {}

  uint32_t depth() const noexcept { return depth_; }
  uint64_t cell_count() const noexcept { return mask_ + 1; }
  Request& request(uint64_t counter) noexcept { return cell(counter).request; }
  const Request& request(uint64_t counter) const noexcept { return cell(counter).request; }

  // --- Submitters.

  // Takes up to `count` places; `counter` is the first of them and `count` how many were had.
  Claim claim(uint64_t& counter, uint32_t& count) noexcept;
  // Everything in the request before the word. Sequentially consistent for Lanes::let_go.
  void publish(uint64_t counter) noexcept {
    cell(counter).word.store(word(counter, kReady), std::memory_order_seq_cst);
  }

  // --- Owner and withdrawers.

  // Makes the request the caller's, if it waits in the queue. Exactly one caller succeeds.
  bool take(uint64_t counter) noexcept {
    uint64_t ready = word(counter, kReady);
    return cell(counter).word.compare_exchange_strong(ready, word(counter, kTaken),
                                                      std::memory_order_acq_rel);
  }

  // --- Withdrawer, having taken the request: its completion, then the end of its use of the cell.

  // The publication point of a withdrawn request. The place is free before anybody can learn of the
  // completion, and the owner passes the request (takes 1 from `ahead`) only afterwards.
  void settle(uint64_t counter) noexcept {
    progress_.fetch_add(1, std::memory_order_seq_cst);
    cell(counter).word.store(word(counter, kSettled), std::memory_order_seq_cst);
  }
  // The next submitter of the cell sees it as the withdrawer left it. Sequentially consistent for
  // Room.
  void vacate_settled(uint64_t counter) noexcept {
    // The owner may have passed it meanwhile, but nobody uses the cell again before this.
    cell(counter).word.store(word(counter, kGone), std::memory_order_seq_cst);
  }

  // --- Owner.

  // The next request to run or to pass.
  uint64_t head() const noexcept { return completed() + 1; }
  Look look(uint64_t counter) const noexcept {
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    if (counter_of_word(seen) != counter)
      return counter_of_word(seen) > counter ? Look::kPassed : Look::kNothing;
    switch (seen & kPhaseMask) {
      case kReady:
        return Look::kReady;
      case kSettled:
      case kGone:
        return Look::kPassed;
      default:
        return Look::kNothing;
    }
  }
  // After take: the request becomes the running one and leaves its cell in exchange for `idle`,
  // which the cell's next submitter will find.
  void start(uint64_t counter, Request& idle) noexcept {
    using std::swap;
    swap(cell(counter).request, idle);
    // Before the cell is vacant: see is_completed. Release: with it goes the request, to whoever
    // gives it up, and the effects of those that ran before.
    running_.store(counter << 1 | 1, std::memory_order_release);
    // Sequentially consistent for Room: a submitter may wait for this cell.
    cell(counter).word.store(word(counter, kVacant), std::memory_order_seq_cst);
  }
  // The right to complete the running request, which two may want: the thread that ran it, and
  // whoever gives it up. Exactly one of them succeeds.
  bool finish(uint64_t counter) noexcept {
    uint64_t running = counter << 1 | 1;
    return running_.compare_exchange_strong(running, counter << 1, std::memory_order_acq_rel);
  }
  // The publication point of a request that ran. Sequentially consistent for WaitList.
  void complete() noexcept { progress_.fetch_add(kOneCompleted, std::memory_order_seq_cst); }
  // Counts the head, which was withdrawn, among the completed.
  void pass() noexcept { progress_.fetch_add(kOneCompleted - 1, std::memory_order_seq_cst); }

  // --- Everybody.

  // The request that runs; 0 when none does.
  uint64_t running() const noexcept {
    const uint64_t running = running_.load(std::memory_order_acquire);
    return (running & 1) != 0 ? running >> 1 : 0;
  }
  uint64_t issued() const noexcept { return tail_.load(std::memory_order_acquire) & ~kClosedBit; }
  // Acquire: pairs with complete() and pass(), so that all of a completed request's effects are
  // visible.
  uint64_t completed() const noexcept { return completed(progress()); }
  // Changes with every completion, in order or not: for those who wait for news.
  uint64_t progress() const noexcept { return progress_.load(std::memory_order_acquire); }
  static uint64_t completed(uint64_t progress) noexcept { return progress >> kAheadBits; }

  // Sequentially consistent for WaitList::add.
  //
  // A cell that was used again after `counter` means that the request left it: because it was
  // withdrawn, or because it started. In the latter case running_ was set before the cell became
  // vacant, so a different value there means that it is completed.
  bool is_completed(uint64_t counter) const noexcept {
    if (counter <= progress_.load(std::memory_order_seq_cst) >> kAheadBits) return true;
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    if (counter_of_word(seen) == counter) return (seen & kPhaseMask) >= kSettled;
    return counter_of_word(seen) > counter &&
           running_.load(std::memory_order_acquire) >> 1 != counter;
  }
  // Whether `places` claims would succeed, one at least. Sequentially consistent for Room.
  bool has_room(uint32_t places = 1) const noexcept {
    const uint64_t tail = tail_.load(std::memory_order_seq_cst);
    const uint64_t progress = progress_.load(std::memory_order_seq_cst);
    const uint32_t cells = std::max(places, uint32_t{1});
    return tail < kLastCounter && tail + places <= freed(progress) + depth_ &&
           (progress & kAheadMask) < kMaxAhead && vacant_cells(tail, cells) == cells;
  }
  // Whether no request has a place. Sequentially consistent.
  bool is_idle() const noexcept {
    return tail_.load(std::memory_order_seq_cst) ==
           freed(progress_.load(std::memory_order_seq_cst));
  }
  // Whether the cell of `counter`, which has just become vacant, is among the next `places` to be
  // claimed. Sequentially consistent: who found it in use before has seen the same tail.
  bool is_among_next(uint64_t counter, uint32_t places) const noexcept {
    const uint64_t tail = tail_.load(std::memory_order_seq_cst) & ~kClosedBit;
    return counter + cell_count() <= tail + places;
  }
  // Whether withdrawing one request more could make room: the next cell is vacant, and no more are
  // ahead than may be.
  bool may_displace() const noexcept {
    return (progress_.load(std::memory_order_acquire) & kAheadMask) + 1 < kMaxAhead &&
           is_vacant(issued() + 1);
  }
  uint32_t in_flight() const noexcept {
    // In this order the difference never exceeds the depth.
    const uint64_t issued_before = issued();
    const uint64_t freed_after = freed(progress_.load(std::memory_order_acquire));
    return freed_after < issued_before ? static_cast<uint32_t>(issued_before - freed_after) : 0;
  }

  // --- Destroyer. After close() every claim is refused.
  void close() noexcept { tail_.fetch_or(kClosedBit, std::memory_order_acq_rel); }

 private:
  enum Phase : uint64_t { kVacant = 0, kReady = 1, kTaken = 2, kSettled = 3, kGone = 4 };
  static constexpr uint64_t kPhaseMask = 7;
  static constexpr uint64_t kClosedBit = uint64_t{1} << 63;
  // progress_: the completed without gaps, and how many more completed ahead of them.
  // Ahead may be as many as kMaxAhead - 1, and then every place's request be withdrawn.
  static constexpr int kAheadBits = 17;
  static constexpr uint64_t kAheadMask = (uint64_t{1} << kAheadBits) - 1;
  static constexpr uint64_t kOneCompleted = uint64_t{1} << kAheadBits;
  // Requests ever issued by one unit: months at the highest rate there is.
  static constexpr uint64_t kLastCounter = (uint64_t{1} << (64 - kAheadBits)) - 1;

  struct alignas(64) Cell {
    Atomic<uint64_t> word{0};  // counter of the last request that was here << 3 | Phase
    Request request;
  };

  static constexpr uint64_t word(uint64_t counter, Phase phase) noexcept {
    return counter << 3 | phase;
  }
  static constexpr uint64_t counter_of_word(uint64_t word) noexcept { return word >> 3; }
  static constexpr uint64_t freed(uint64_t progress) noexcept {
    return (progress >> kAheadBits) + (progress & kAheadMask);
  }
  // Whether the cell of `counter` can be claimed for it: the request one round before was there and
  // has left. (A cell that is claimed and not published shows the request before that one.)
  // Acquire: pairs with start and vacate_settled; sequentially consistent for Room.
  bool is_vacant(uint64_t counter) const noexcept {
    const uint64_t before = counter > cell_count() ? counter - cell_count() : 0;
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    return seen == word(before, kVacant) || seen == word(before, kGone);
  }
  Cell& cell(uint64_t counter) noexcept { return cells_[counter & mask_]; }
  const Cell& cell(uint64_t counter) const noexcept { return cells_[counter & mask_]; }

  uint32_t free_places(uint64_t tail, uint32_t wanted) noexcept;
  uint32_t vacant_cells(uint64_t tail, uint32_t wanted) const noexcept;

  const uint32_t depth_;
  const uint64_t mask_;
  const std::unique_ptr<Cell[]> cells_;

  // Written by submitters.
  alignas(64) Atomic<uint64_t> tail_{0};  // counter issued last, and kClosedBit
  Atomic<uint64_t> freed_seen_{0};        // saves submitters from reading the owner's line

  // Written by the owner and by withdrawers, read by whoever polls.
  alignas(64) Atomic<uint64_t> progress_{0};
  // Written by the owner alone: apart, so that its stores do not disturb who polls.
  alignas(64) Atomic<uint64_t> running_{0};  // counter << 1 | whether it still runs
};

template <class Request, class Sync>
auto Ring<Request, Sync>::claim(uint64_t& counter, uint32_t& count) noexcept -> Claim {
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    if (tail >= kLastCounter) return Claim::kClosed;
    const uint32_t had = vacant_cells(tail, free_places(tail, count));
    if (had == 0) {
      // Exact only if `tail` is still the newest.
      const uint64_t again = tail_.load(std::memory_order_relaxed);
      if (again == tail) return Claim::kFull;
      tail = again;
      continue;
    }
    // Pairs with the fetch_or in close(), which must see this submitter inside. Sequentially
    // consistent for whoever decides by is_idle() that nobody needs him any more.
    if (tail_.compare_exchange_weak(tail, tail + had, std::memory_order_seq_cst,
                                    std::memory_order_relaxed)) {
      counter = tail + 1;
      count = had;
      return Claim::kOk;
    }
  }
}

// Completions only make room, and a claim after an answer greater than zero succeeds only while
// `tail` is unchanged. Acquire and release: whoever claims a place has seen the completion that
// freed it, whether it read the owner's line or another submitter's copy of it.
template <class Request, class Sync>
uint32_t Ring<Request, Sync>::free_places(uint64_t tail, uint32_t wanted) noexcept {
  // A copy newer than `tail` makes the difference negative: there is room, and the claim will fail.
  const auto room = [&](uint64_t freed) {
    return static_cast<int64_t>(depth_) - static_cast<int64_t>(tail - freed);
  };
  int64_t places = room(freed_seen_.load(std::memory_order_acquire));
  if (places < wanted) {
    const uint64_t progress = progress_.load(std::memory_order_acquire);
    if ((progress & kAheadMask) >= kMaxAhead) return 0;
    freed_seen_.store(freed(progress), std::memory_order_release);
    places = room(freed(progress));
  }
  return static_cast<uint32_t>(std::clamp<int64_t>(places, 0, wanted));
}

// A cell that is vacant stays so until the place after `tail` is claimed.
template <class Request, class Sync>
uint32_t Ring<Request, Sync>::vacant_cells(uint64_t tail, uint32_t wanted) const noexcept {
  uint32_t vacant = 0;
  while (vacant < wanted && is_vacant(tail + 1 + vacant)) ++vacant;
  return vacant;
}

}  // namespace millrace::queue
