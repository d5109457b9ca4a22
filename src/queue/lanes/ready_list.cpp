#include "queue/lanes/ready_list.h"

#include <algorithm>
#include <utility>

namespace millrace::queue {

void ReadyList::attach() {
  const std::lock_guard lock(mutex_);
  heap_.reserve(attached_ + 1);
  ++attached_;
}

void ReadyList::detach() {
  const std::lock_guard lock(mutex_);
  --attached_;
}

void ReadyList::push(Source& source, bool wakes_lane) noexcept {
  count(source, wakes_lane);
  Source* first = inbox_.load(std::memory_order_relaxed);
  do {
    source.next_in_inbox_ = first;
    // Release pairs with the acquire exchange in drain_inbox_locked. The inbox is only ever emptied
    // as a whole, so the ABA problem (the same pointer again after a change) does no harm.
  } while (!inbox_.compare_exchange_weak(first, &source, std::memory_order_release,
                                         std::memory_order_relaxed));
}

std::shared_ptr<Source> ReadyList::pop() {
  const std::lock_guard lock(mutex_);
  return pop_locked();
}

std::shared_ptr<Source> ReadyList::pop_for_caller(int64_t longest_ns) {
  const std::lock_guard lock(mutex_);
  drain_inbox_locked();
  if (heap_.empty() || !heap_.front().source->callers_may_run(longest_ns)) return nullptr;
  return pop_locked();
}

std::optional<uint64_t> ReadyList::oldest_ticket() {
  const std::lock_guard lock(mutex_);
  drain_inbox_locked();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().ticket;
}

void ReadyList::want_lanes() {
  const std::lock_guard lock(mutex_);
  drain_inbox_locked();
  for (const Entry& entry : heap_)
    if (!std::exchange(entry.source->wakes_lane_, true))
      wanting_.fetch_add(1, std::memory_order_seq_cst);
}

std::shared_ptr<Source> ReadyList::exchange(Source& source, bool wakes_lane) {
  const std::lock_guard lock(mutex_);
  count(source, wakes_lane);
  add_locked(source);
  return pop_locked();
}

bool ReadyList::remove(Source& source) {
  const std::lock_guard lock(mutex_);
  drain_inbox_locked();
  const auto found = std::find_if(heap_.begin(), heap_.end(),
                                  [&](const Entry& entry) { return entry.source == &source; });
  if (found == heap_.end()) return false;
  heap_.erase(found);
  std::make_heap(heap_.begin(), heap_.end(), later);
  uncount(source);
  return true;
}

void ReadyList::count(Source& source, bool wakes_lane) noexcept {
  source.wakes_lane_ = wakes_lane;
  if (wakes_lane) wanting_.fetch_add(1, std::memory_order_seq_cst);
  size_.fetch_add(1, std::memory_order_seq_cst);
}

void ReadyList::uncount(const Source& source) noexcept {
  if (source.wakes_lane_) wanting_.fetch_sub(1, std::memory_order_seq_cst);
  size_.fetch_sub(1, std::memory_order_seq_cst);
}

void ReadyList::add_locked(Source& source) {
  heap_.push_back({source.ticket(), &source});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void ReadyList::drain_inbox_locked() {
  if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
  Source* source = inbox_.exchange(nullptr, std::memory_order_acquire);
  while (source != nullptr) {
    Source* next = source->next_in_inbox_;
    add_locked(*source);
    source = next;
  }
}

std::shared_ptr<Source> ReadyList::pop_locked() {
  drain_inbox_locked();
  if (heap_.empty()) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Source* source = heap_.back().source;
  heap_.pop_back();
  uncount(*source);
  return source->shared_from_this();
}

}  // namespace millrace::queue
