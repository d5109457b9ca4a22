// Ring: the ring buffer of a unit, a bounded lock-free queue with any number of submitters and one
// owner, which runs the requests. It tracks each request from the claim of a place to its
// completion.
//
//                  owner                owner
//   claim -> kReady -take-> kTaken -----start----> kVacant           (it runs, then complete)
//              |
//              +------take-> kTaken -complete_removed-> kRemoved -vacate-> kGone
//             another thread                            (the owner passes it)
//
//   claim -start_unseen-> kVacant      the owner's own request, when it is the head
//
// Guarantees: every claimed request is completed exactly once, by complete() after it ran or by
// complete_removed() instead; requests start in the order of their claims and never overlap; at
// most `depth` of them are claimed and not completed; no function blocks or allocates.
//
// Any number of threads submit requests and remove waiting ones. The ring has one owner at a time:
// the lane that holds the unit, or the thread that closes it. Counters run from 1 without gaps; the
// request with counter c is stored in cell c modulo the number of cells until it starts or is
// removed. The running request is no longer in its cell, so a request that never ends does not
// block the reuse of the cells after it.
//
// A request has a place (one of `depth`) from its claim until complete() or complete_removed().
// There are more cells than places, because cells are used in turn: the cells of removed requests
// stay empty until the waiting requests before them have started.
//
// A cell stores a `Request`. It belongs to the submitter from claim to publish (or to
// start_unseen), and then to the thread whose take() succeeded, until that thread starts it or
// vacates the cell. Only then is the cell reused.
//
// `Sync` provides the atomics (sync.h), so that the model checker can run the same code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "queue/waiting/sync.h"

namespace millrace::queue {

template <class Request, class Sync = StdSync>
class Ring {
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

 public:
  enum class Claim : uint8_t { kOk, kFull, kClosed };
  // The state in which the owner finds the cell at a counter.
  enum class Look : uint8_t {
    kNothing,  // not published, or taken by a thread that has not completed its removal
    kReady,    // take it and run it
    kPassed,   // removed and completed: pass it
  };

  // The maximum number of removed requests after one that does not end: the number of results that
  // the result table keeps.
  static constexpr uint64_t kMaxAhead = 65'536;
  // The minimum number of cells. A small depth gets spare cells for requests that are removed while
  // an earlier one waits.
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

  // Claims up to `count` places. Sets `counter` to the first one and `count` to the number that
  // were claimed.
  Claim claim(uint64_t& counter, uint32_t& count) noexcept;
  // Makes a claimed request visible to the owner. The store releases the submitter's writes to the
  // request, for the thread that takes it. It is sequentially consistent because of
  // Lanes::Impl::let_go: of the submitter and the lane that lets go of the unit, at least one sees
  // what the other has stored.
  void publish(uint64_t counter) noexcept {
    cell(counter).word.store(word(counter, kReady), std::memory_order_seq_cst);
  }

  // --- The owner, and threads that remove a waiting request.

  // Gives the request to the caller if it waits in the queue. At most one caller succeeds. Acquire
  // pairs with publish(): the caller sees the request as the submitter has written it.
  bool take(uint64_t counter) noexcept {
    uint64_t ready = word(counter, kReady);
    return cell(counter).word.compare_exchange_strong(ready, word(counter, kTaken),
                                                      std::memory_order_acq_rel);
  }

  // --- The thread that removes a request, after take() has succeeded.

  // The publication point of a removed request. It counts the request in progress_ before it stores
  // the word: the place is free before a thread can see the completion, and the owner, which passes
  // the request once it sees the word, never decrements a count of zero.
  void complete_removed(uint64_t counter) noexcept {
    progress_.fetch_add(1, std::memory_order_seq_cst);
    cell(counter).word.store(word(counter, kRemoved), std::memory_order_seq_cst);
  }
  // Ends the use of the cell of a removed request. The store releases the cell to its next
  // submitter, whose claim acquires it in is_vacant(). It is sequentially consistent because of
  // Room: a submitter may be waiting for this cell.
  void vacate(uint64_t counter) noexcept {
    // The owner may have passed the request already, but the cell is not claimed before this store.
    cell(counter).word.store(word(counter, kGone), std::memory_order_seq_cst);
  }

  // --- Owner.

  // Returns the counter of the next request to run or to pass.
  uint64_t head() const noexcept { return completed() + 1; }
  Look look(uint64_t counter) const noexcept {
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    if (counter_of_word(seen) != counter)
      return counter_of_word(seen) > counter ? Look::kPassed : Look::kNothing;
    switch (seen & kPhaseMask) {
      case kReady:
        return Look::kReady;
      case kRemoved:
      case kGone:
        return Look::kPassed;
      default:
        return Look::kNothing;
    }
  }
  // Call after take(). Makes the request the running one: swaps it with `idle`, so that the next
  // submitter of the cell finds the unused Request there.
  void start(uint64_t counter, Request& idle) noexcept {
    using std::swap;
    swap(cell(counter).request, idle);
    start_unseen(counter);
  }
  // Like start(), for a head that the owner itself has claimed and never published: the content of
  // its cell stays as it is.
  void start_unseen(uint64_t counter) noexcept {
    // This store precedes the one that makes the cell vacant; is_completed() relies on that order.
    // Release pairs with the acquire of a thread that gives the request up: it sees the request,
    // and the effects of those that ran before.
    running_.store(counter << 1 | 1, std::memory_order_release);
    // Releases the cell to its next submitter; sequentially consistent as in vacate().
    cell(counter).word.store(word(counter, kVacant), std::memory_order_seq_cst);
  }
  // Acquires the right to complete the running request. Two threads may compete for it, the one
  // that ran the request and the one that gives it up; exactly one of them succeeds. Sequentially
  // consistent because of a closing unit: see Unit::Impl::log_close_waits.
  bool finish(uint64_t counter) noexcept {
    uint64_t running = counter << 1 | 1;
    return running_.compare_exchange_strong(running, counter << 1, std::memory_order_seq_cst);
  }
  // The publication point of a request that ran. Releases the request's effects to every thread
  // that reads the completion. Sequentially consistent because of WaitList, where a waiter
  // announces itself and then reads progress_.
  void complete() noexcept { progress_.fetch_add(kOneCompleted, std::memory_order_seq_cst); }
  // Counts the head, a removed request, among the completed ones.
  void pass() noexcept { progress_.fetch_add(kOneCompleted - 1, std::memory_order_seq_cst); }

  // --- Any thread.

  // Returns the counter of the running request; 0 if none runs. Sequentially consistent, like
  // finish().
  uint64_t running() const noexcept {
    const uint64_t running = running_.load(std::memory_order_seq_cst);
    return (running & 1) != 0 ? running >> 1 : 0;
  }
  // Returns the counter of the last claimed request.
  uint64_t issued() const noexcept { return tail_.load(std::memory_order_acquire) & ~kClosedBit; }
  // Returns the counter up to which all requests are completed.
  // Acquire pairs with complete() and pass(): all effects of the completed requests are visible.
  uint64_t completed() const noexcept { return completed(progress()); }
  // Changes with every completion, in order or not.
  uint64_t progress() const noexcept { return progress_.load(std::memory_order_acquire); }
  static uint64_t completed(uint64_t progress) noexcept { return progress >> kAheadBits; }

  // Sequentially consistent because of WaitList::add, which calls this after it has announced the
  // waiter.
  //
  // If the cell holds a later counter, the request has left it, because it was removed or because
  // it started. In the latter case running_ was set before the cell became vacant, so another value
  // there means that the request is completed.
  bool is_completed(uint64_t counter) const noexcept {
    if (counter <= progress_.load(std::memory_order_seq_cst) >> kAheadBits) return true;
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    if (counter_of_word(seen) == counter) return (seen & kPhaseMask) >= kRemoved;
    return counter_of_word(seen) > counter &&
           running_.load(std::memory_order_acquire) >> 1 != counter;
  }
  // Returns whether `places` places are free and their cells, at least the next one, are vacant.
  // Sequentially consistent because of Room, which calls this after it has announced the waiter.
  bool has_room(uint32_t places = 1) const noexcept {
    uint64_t tail = tail_.load(std::memory_order_seq_cst);
    for (;;) {
      if (has_room_after(tail, places)) return true;
      // As in claim(), the answer is exact only if `tail` is still current. Otherwise another
      // submitter has claimed the cells that were examined.
      const uint64_t again = tail_.load(std::memory_order_seq_cst);
      if (again == tail) return false;
      tail = again;
    }
  }
  // Returns whether no request has a place. Sequentially consistent, see claim().
  bool is_idle() const noexcept {
    return tail_.load(std::memory_order_seq_cst) ==
           freed(progress_.load(std::memory_order_seq_cst));
  }
  // Returns whether the cell of `counter`, which has just become vacant, is among the next `places`
  // to be claimed. Sequentially consistent: a waiter that found the cell in use has seen the same
  // tail.
  bool is_among_next(uint64_t counter, uint32_t places) const noexcept {
    const uint64_t tail = tail_.load(std::memory_order_seq_cst) & ~kClosedBit;
    return counter + cell_count() <= tail + places;
  }
  // Returns whether removing one more request could make room: the next cell is vacant, and the
  // number of requests completed out of order stays below kMaxAhead.
  bool may_displace() const noexcept {
    return (progress_.load(std::memory_order_acquire) & kAheadMask) + 1 < kMaxAhead &&
           is_vacant(issued() + 1);
  }
  uint32_t in_flight() const noexcept {
    // Reading tail_ before progress_ keeps the difference from exceeding the depth.
    const uint64_t issued_before = issued();
    const uint64_t freed_after = freed(progress_.load(std::memory_order_acquire));
    return freed_after < issued_before ? static_cast<uint32_t>(issued_before - freed_after) : 0;
  }

  // --- The thread that closes the unit. After close() every claim is refused.
  void close() noexcept { tail_.fetch_or(kClosedBit, std::memory_order_acq_rel); }

 private:
  enum Phase : uint64_t { kVacant = 0, kReady = 1, kTaken = 2, kRemoved = 3, kGone = 4 };
  static constexpr uint64_t kPhaseMask = 7;
  static constexpr uint64_t kClosedBit = uint64_t{1} << 63;
  // progress_ holds the number of requests completed without gaps in its upper bits and, in the
  // lower kAheadBits, the number completed ahead of them. The latter is at most kMaxAhead - 1, plus
  // one for each place.
  static constexpr int kAheadBits = 17;
  static constexpr uint64_t kAheadMask = (uint64_t{1} << kAheadBits) - 1;
  static constexpr uint64_t kOneCompleted = uint64_t{1} << kAheadBits;
  // The largest number of requests that one unit can issue, limited by the bits of progress_. It
  // lasts months at the highest rate that was measured.
  static constexpr uint64_t kLastCounter = (uint64_t{1} << (64 - kAheadBits)) - 1;

  struct alignas(64) Cell {
    Atomic<uint64_t> word{0};  // counter of the last request stored here << 3 | Phase
    Request request;
  };

  static constexpr uint64_t word(uint64_t counter, Phase phase) noexcept {
    return counter << 3 | phase;
  }
  static constexpr uint64_t counter_of_word(uint64_t word) noexcept { return word >> 3; }
  static constexpr uint64_t freed(uint64_t progress) noexcept {
    return (progress >> kAheadBits) + (progress & kAheadMask);
  }
  // Returns whether the cell of `counter` can be claimed for it: its previous request, cell_count()
  // counters earlier, has been there and has left. (A cell that is claimed and not yet published
  // still shows the request before that one.) Acquire pairs with start() and vacate(); sequentially
  // consistent because of Room.
  bool is_vacant(uint64_t counter) const noexcept {
    const uint64_t before = counter > cell_count() ? counter - cell_count() : 0;
    const uint64_t seen = cell(counter).word.load(std::memory_order_seq_cst);
    return seen == word(before, kVacant) || seen == word(before, kGone);
  }
  Cell& cell(uint64_t counter) noexcept { return cells_[counter & mask_]; }
  const Cell& cell(uint64_t counter) const noexcept { return cells_[counter & mask_]; }

  bool has_room_after(uint64_t tail, uint32_t places) const noexcept {
    const uint64_t progress = progress_.load(std::memory_order_seq_cst);
    const uint32_t cells = std::max(places, uint32_t{1});
    return tail < kLastCounter && tail + places <= freed(progress) + depth_ &&
           (progress & kAheadMask) < kMaxAhead && vacant_cells(tail, cells) == cells;
  }
  uint32_t free_places(uint64_t tail, uint32_t wanted) noexcept;
  uint32_t vacant_cells(uint64_t tail, uint32_t wanted) const noexcept;

  const uint32_t depth_;
  const uint64_t mask_;
  const std::unique_ptr<Cell[]> cells_;

  // Written by submitters.
  alignas(64) Atomic<uint64_t> tail_{0};  // counter issued last, and kClosedBit
  Atomic<uint64_t> freed_seen_{0};        // submitters' copy of freed(progress_)

  // Written by the owner and by threads that remove requests, read by all that poll.
  alignas(64) Atomic<uint64_t> progress_{0};
  // Written by the owner alone, on a cache line of its own: its stores do not disturb pollers.
  alignas(64) Atomic<uint64_t> running_{0};  // counter << 1 | whether it still runs
};

template <class Request, class Sync>
auto Ring<Request, Sync>::claim(uint64_t& counter, uint32_t& count) noexcept -> Claim {
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    if (tail >= kLastCounter) return Claim::kClosed;
    const uint32_t claimable = vacant_cells(tail, free_places(tail, count));
    if (claimable == 0) {
      // The answer is exact only if `tail` is still current.
      const uint64_t again = tail_.load(std::memory_order_relaxed);
      if (again == tail) return Claim::kFull;
      tail = again;
      continue;
    }
    // Either this exchange or the fetch_or in close() comes first. If close() is first, the claim
    // is refused. Otherwise the closing thread sees this submitter inside the unit, or waits for it
    // because it owns the unit (Unit::Impl::begin_inline). Sequentially consistent because of
    // is_idle(), by which the monitor decides that the unit no longer needs to be watched.
    if (tail_.compare_exchange_weak(tail, tail + claimable, std::memory_order_seq_cst,
                                    std::memory_order_relaxed)) {
      counter = tail + 1;
      count = claimable;
      return Claim::kOk;
    }
  }
}

// Returns the number of free places, at most `wanted`. An outdated answer is safe: completions only
// add places, and the claim that follows succeeds only if `tail` is unchanged. Acquire and release:
// the thread that claims a place has seen the completion that freed it, whether it has read
// progress_ or the copy in freed_seen_ that another submitter stored.
template <class Request, class Sync>
uint32_t Ring<Request, Sync>::free_places(uint64_t tail, uint32_t wanted) noexcept {
  // If the copy is newer than `tail`, the difference is negative: there is room, but the claim will
  // fail and be repeated.
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

// Counts the vacant cells after `tail`, up to the first one in use and at most `wanted`. A vacant
// cell stays vacant as long as `tail` is current.
template <class Request, class Sync>
uint32_t Ring<Request, Sync>::vacant_cells(uint64_t tail, uint32_t wanted) const noexcept {
  uint32_t vacant = 0;
  while (vacant < wanted && is_vacant(tail + 1 + vacant)) ++vacant;
  return vacant;
}

}  // namespace millrace::queue
