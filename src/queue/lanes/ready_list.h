// The sources that have work and no lane, oldest request first.
//
// Submitters push without a lock onto an inbox; lanes move the inbox into a heap under a lock that
// only lanes (and a thread that destroys a unit) take, never while a request runs. Sources are
// referred to, not owned: a source must be removed before it is destroyed.
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
  // Makes room for one more or one less source, so that pushing never allocates.
  void attach();
  void detach();

  // Adds a scheduled source that no lane holds. Lock-free.
  void push(Source& source) noexcept;
  // The source with the oldest request; null when there is none.
  std::shared_ptr<Source> pop();
  // push and pop in one step: may return the same source.
  std::shared_ptr<Source> exchange(Source& source);
  // Takes `source` out; false when it is not in the list.
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
  std::atomic<size_t> size_{0};  // inbox and heap; counted before a source becomes visible

  alignas(64) std::mutex mutex_;
  std::vector<Entry> heap_;
  size_t attached_ = 0;
};

}  // namespace millrace::queue
