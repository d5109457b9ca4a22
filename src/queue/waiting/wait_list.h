// WaitList: the waiters for requests of one unit, a linked list sorted by request counter. A
// completion costs one load if nothing waits for it.
//
// No wake-up is lost: the completing thread publishes the completion and then reads `first_wanted_`
// (completed_through); a waiter stores `first_wanted_` and then reads the completion (add). All
// four accesses are sequentially consistent, so the completing thread sees the waiter, or the
// waiter sees the completion.
//
// `Sync` provides the synchronisation primitives (sync.h).
#pragma once

#include <cstdint>
#include <limits>
#include <mutex>

#include "queue/waiting/sync.h"

namespace millrace::queue {

// A waiter for one request. It may be on a stack or in a coroutine's frame, and must stay there
// until it was notified or removed.
class WaitNode {
 public:
  explicit WaitNode(uint64_t counter) noexcept : counter_(counter) {}
  WaitNode(const WaitNode&) = delete;
  WaitNode& operator=(const WaitNode&) = delete;

  // Called once when the request is completed, by the completing thread, under the list's mutex: it
  // must be quick and must not call the list. The node is no longer in the list; its owner may
  // destroy it as soon as this call has notified it.
  virtual void on_completed() noexcept = 0;

 protected:
  ~WaitNode() = default;

 private:
  template <class Sync>
  friend class WaitList;
  const uint64_t counter_;
  WaitNode* previous_ = nullptr;
  WaitNode* next_ = nullptr;
  bool linked_ = false;
};

template <class Sync = StdSync>
class WaitList {
 public:
  // Adds `node` and then calls `is_completed(counter)`. If that returns true, there is nothing to
  // wait for: removes the node again and returns false, without a call of on_completed.
  template <class IsCompleted>
  bool add(WaitNode& node, IsCompleted&& is_completed) {
    const std::lock_guard lock(mutex_);
    link(node);
    if (!is_completed(node.counter_)) return true;
    unlink(node);
    return false;
  }

  // Removes `node`. Returns false if it was notified; then on_completed has returned. Requirement:
  // it was added.
  bool remove(WaitNode& node) {
    const std::lock_guard lock(mutex_);
    if (!node.linked_) return false;
    unlink(node);
    return true;
  }

  // Notifies the waiters of requests up to `counter`. Call after its completion was published.
  void completed_through(uint64_t counter) noexcept {
    if (first_wanted_.load(std::memory_order_seq_cst) <= counter) notify_through(counter);
  }
  // Notifies the waiters of this request alone, which was removed. Call after its completion was
  // published.
  void completed_alone(uint64_t counter) noexcept {
    if (first_wanted_.load(std::memory_order_seq_cst) <= counter) notify_alone(counter);
  }

 private:
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  void notify_through(uint64_t counter) noexcept {
    const std::lock_guard lock(mutex_);
    while (first_ != nullptr && first_->counter_ <= counter) notify(*first_);
  }
  void notify_alone(uint64_t counter) noexcept {
    const std::lock_guard lock(mutex_);
    for (WaitNode* node = first_; node != nullptr && node->counter_ <= counter;) {
      WaitNode* next = node->next_;
      if (node->counter_ == counter) notify(*node);
      node = next;
    }
  }
  void notify(WaitNode& node) noexcept {
    unlink(node);
    node.on_completed();
  }

  // Inserts in ascending order of counters. Searches from the end, since most waiters wait for the
  // newest requests.
  void link(WaitNode& node) noexcept {
    WaitNode* before = last_;
    while (before != nullptr && before->counter_ > node.counter_) before = before->previous_;
    node.previous_ = before;
    node.next_ = before != nullptr ? before->next_ : first_;
    (node.previous_ != nullptr ? node.previous_->next_ : first_) = &node;
    (node.next_ != nullptr ? node.next_->previous_ : last_) = &node;
    node.linked_ = true;
    update_first_wanted();
  }
  void unlink(WaitNode& node) noexcept {
    (node.previous_ != nullptr ? node.previous_->next_ : first_) = node.next_;
    (node.next_ != nullptr ? node.next_->previous_ : last_) = node.previous_;
    node.linked_ = false;
    update_first_wanted();
  }
  void update_first_wanted() noexcept {
    first_wanted_.store(first_ != nullptr ? first_->counter_ : kNobody, std::memory_order_seq_cst);
  }

  // The smallest counter that is waited for; written under mutex_, read without it.
  alignas(64) typename Sync::template Atomic<uint64_t> first_wanted_{kNobody};
  typename Sync::Mutex mutex_;
  WaitNode* first_ = nullptr;
  WaitNode* last_ = nullptr;
};

// A waiter that lets a thread sleep until one request is completed.
template <class Sync = StdSync>
class SleepingWaiter final : public WaitNode {
 public:
  using WaitNode::WaitNode;
  void on_completed() noexcept override { parker_.unpark(); }

  // Sleeps until the request is completed and returns true, or returns false at the deadline.
  template <class IsCompleted>
  bool wait(WaitList<Sync>& list, IsCompleted&& is_completed, Deadline deadline) {
    if (!list.add(*this, is_completed)) return true;
    if (parker_.park_until(deadline)) return true;
    return !list.remove(*this);
  }

 private:
  typename Sync::Parker parker_;
};

}  // namespace millrace::queue
