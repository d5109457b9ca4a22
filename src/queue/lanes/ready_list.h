// ReadyList: the sources that have work and no lane, a priority queue ordered by ticket (oldest
// request first).
//
// Submitters push onto a lock-free stack, the inbox. Lanes move the inbox into a binary heap, under
// a mutex that is never held while a request runs. The list does not own sources: a source must be
// removed before it is destroyed. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "queue/lanes/source.h"

namespace millrace::queue {

class ReadyList {
 public:
  // Reserve memory for one more source, or for one less, so that pushing never allocates. attach()
  // throws std::bad_alloc.
  void attach();
  void detach();

  // Adds a scheduled source that no lane holds. Lock-free.
  void push(Source& source) noexcept;
  // Removes and returns the source with the oldest request; null if the list is empty.
  std::shared_ptr<Source> pop();
  // Pushes `source` and pops the oldest atomically; may return the same source.
  std::shared_ptr<Source> exchange(Source& source);
  // Removes `source`; returns false if it is not in the list.
  bool remove(Source& source);

  // Sequentially consistent with push: a lane that announces itself (as asleep, or as no longer
  // searching) and then finds the list empty is seen by the thread that pushes afterwards.
  bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

 private:
  struct Entry {
    uint64_t ticket;
    Source* source;
  };
  static bool later(const Entry& a, const Entry& b) noexcept { return a.ticket > b.ticket; }

  void add_locked(Source& source);
  void drain_inbox_locked();
  std::shared_ptr<Source> pop_locked();

  // Written by submitters of idle sources and by lanes.
  alignas(64) std::atomic<Source*> inbox_{nullptr};
  std::atomic<size_t> size_{0};  // inbox and heap; incremented before a source becomes visible

  alignas(64) std::mutex mutex_;
  std::vector<Entry> heap_;
  size_t attached_ = 0;
};

}  // namespace millrace::queue
