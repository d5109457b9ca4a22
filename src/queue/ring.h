// Ring: the fixed storage of a unit's requests, from the claim of a slot to its completion.
//
//   free --claim--> filled by its submitter --publish--> ready --> running --complete--> free
//
// Any number of submitters, one owner at a time (the lane that holds the unit, or its destroyer).
// Counters run from 1 without gaps; the request with counter c is kept in slot c modulo the number
// of slots.
//
// There is one slot more than `depth`. A request counts as completed, and makes room for the next
// one, before the owner has dropped what its task refers to. The spare slot is what the next
// submitter takes meanwhile: the slot of request c is used again by request c + depth + 1, which
// can be claimed only when c + 1 is completed, and the owner completes c + 1 after it is done with
// c.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "queue/request.h"
#include "queue/visitors.h"

namespace millrace::queue {

class Ring {
 public:
  struct alignas(64) Slot {
    std::atomic<uint64_t> counter{0};  // of the request that was published here last
    uint64_t ticket = 0;
    std::unique_ptr<Task> task;
    Callback callback;
  };
  enum class Claim : uint8_t { kOk, kFull, kClosed };

  explicit Ring(uint32_t depth)
      : depth_(depth), slot_count_(depth + 1), slots_(std::make_unique<Slot[]>(slot_count_)) {}

  uint32_t depth() const noexcept { return depth_; }
  uint32_t slot_count() const noexcept { return slot_count_; }
  Slot& slot(uint64_t counter) noexcept { return slots_[counter % slot_count_]; }
  const Slot& slot(uint64_t counter) const noexcept { return slots_[counter % slot_count_]; }

  // For submitters, between enter() and leave(). claim gives the caller the slot of `counter`, to
  // fill and then to publish.
  void enter() noexcept { submitters_.enter(); }
  void leave() noexcept { submitters_.leave(); }
  Claim claim(uint64_t& counter) noexcept;
  void publish(uint64_t counter) noexcept {
    // Everything in the slot before the counter. Sequentially consistent for Lanes::Impl::let_go.
    slot(counter).counter.store(counter, std::memory_order_seq_cst);
  }

  // For the owner. `head` is the request to run next, valid when has_head().
  uint64_t head() const noexcept { return completed_.load(std::memory_order_relaxed) + 1; }
  bool has_head() const noexcept {
    const uint64_t counter = head();
    return slot(counter).counter.load(std::memory_order_seq_cst) == counter;
  }
  // The publication point of a completion. Sequentially consistent for Waiters::wake.
  void complete(uint64_t counter) noexcept { completed_.store(counter, std::memory_order_seq_cst); }

  // For everybody.
  uint64_t issued() const noexcept { return tail_.load(std::memory_order_acquire) & kCounterMask; }
  // Acquire: pairs with complete(), so that all of a completed request's effects are visible.
  uint64_t completed() const noexcept { return completed_.load(std::memory_order_acquire); }
  // Sequentially consistent for Waiters::park.
  bool is_completed(uint64_t counter) const noexcept {
    return counter <= completed_.load(std::memory_order_seq_cst);
  }
  uint32_t in_flight() const noexcept {
    // In this order the difference never exceeds the depth.
    const uint64_t issued_before = issued();
    const uint64_t completed_after = completed();
    return completed_after < issued_before ? static_cast<uint32_t>(issued_before - completed_after)
                                           : 0;
  }

  // For the destroyer. After close() every claim is refused.
  void close() noexcept { tail_.fetch_or(kClosedBit, std::memory_order_acq_rel); }
  // Returns when all claimed slots are published and their submitters have left. Requires close().
  void wait_for_submitters() const noexcept { submitters_.wait_until_gone(); }

 private:
  static constexpr uint64_t kClosedBit = uint64_t{1} << 63;

  bool is_full(uint64_t tail) noexcept;

  const uint32_t depth_;
  const uint32_t slot_count_;
  const std::unique_ptr<Slot[]> slots_;

  // Written by submitters.
  alignas(64) std::atomic<uint64_t> tail_{0};  // counter issued last, and kClosedBit
  std::atomic<uint64_t> completed_seen_{0};    // saves submitters from reading the owner's line
  Visitors submitters_;

  // Written by the owner, read by whoever polls.
  alignas(64) std::atomic<uint64_t> completed_{0};
};

}  // namespace millrace::queue
