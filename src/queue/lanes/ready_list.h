// ReadyList: the sources that have work and no lane, a priority queue ordered by ticket (oldest
// request first).
//
// Submitters push onto a lock-free stack, the inbox. Lanes move the inbox into a binary heap, under
// a mutex that is never held while a request runs. The list does not own sources: a source must be
// removed before it is destroyed. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "queue/lanes/source.h"

namespace millrace::queue {

class ReadyList {
 public:
  // Reserve memory for one more source, or for one less, so that pushing never allocates. attach()
  // throws std::bad_alloc.
  void attach();
  void detach();

  // Adds a scheduled source that no lane holds. If `wakes_lane`, the caller wakes a lane
  // afterwards; otherwise the source is left to threads that wait and to lanes that are awake.
  // Lock-free.
  void push(Source& source, bool wakes_lane) noexcept;
  // Removes and returns the source with the oldest request; null if the list is empty.
  std::shared_ptr<Source> pop();
  // Pushes `source` and pops the oldest atomically; may return the same source.
  std::shared_ptr<Source> exchange(Source& source, bool wakes_lane);
  // Like pop(), but returns null if threads that wait may not run the requests of that source, or
  // if these are expected to take more than `longest_ns`.
  std::shared_ptr<Source> pop_for_caller(int64_t longest_ns);
  // Returns the ticket of the oldest source; nothing if the list is empty.
  std::optional<uint64_t> oldest_ticket();
  // From now on a lane has to be awake for each source of the list.
  void want_lanes();
  // Removes `source`; returns false if it is not in the list.
  bool remove(Source& source);

  // Sequentially consistent with push: a lane that announces itself (as asleep, or as no longer
  // searching) and then finds the list empty is seen by the thread that pushes afterwards.
  bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }
  // Returns the number of sources for which no lane has to be awake; may be outdated.
  size_t left() const noexcept {
    const size_t wanting = wanting_.load(std::memory_order_relaxed);
    const size_t all = size_.load(std::memory_order_relaxed);
    return all - std::min(all, wanting);
  }
  // Returns whether there is a source for which a lane has to be awake. Sequentially consistent,
  // too.
  bool wants_lane() const noexcept { return wanting_.load(std::memory_order_seq_cst) != 0; }

 private:
  struct Entry {
    uint64_t ticket;
    Source* source;
  };
  static bool later(const Entry& a, const Entry& b) noexcept { return a.ticket > b.ticket; }

  void count(Source& source, bool wakes_lane) noexcept;
  void uncount(const Source& source) noexcept;
  void add_locked(Source& source);
  void drain_inbox_locked();
  std::shared_ptr<Source> pop_locked();

  // Written by submitters of idle sources and by lanes.
  alignas(64) std::atomic<Source*> inbox_{nullptr};
  std::atomic<size_t> size_{0};     // inbox and heap; incremented before a source becomes visible
  std::atomic<size_t> wanting_{0};  // those for which a lane has to be awake; in the same way

  alignas(64) std::mutex mutex_;
  std::vector<Entry> heap_;
  size_t attached_ = 0;
};

}  // namespace millrace::queue
