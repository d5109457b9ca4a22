// DeferredCallbacks: the callbacks of removed requests whose turn, in the order of submission,
// has not come. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "queue/request.h"

namespace millrace::queue {

class DeferredCallbacks {
 public:
  struct Entry {
    Callback callback;
    Status status;
  };

  void add(uint64_t counter, Callback callback, Status status) {
    const std::lock_guard lock(mutex_);
    entries_.emplace(counter, Entry{std::move(callback), std::move(status)});
    count_.store(entries_.size(), std::memory_order_relaxed);
  }

  // What was added for this request. A relaxed load is enough: the owner passes a removed request
  // after it has seen its completion, which follows add().
  std::optional<Entry> take(uint64_t counter) {
    if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(counter);
    if (found == entries_.end()) return std::nullopt;
    Entry entry = std::move(found->second);
    entries_.erase(found);
    count_.store(entries_.size(), std::memory_order_relaxed);
    return entry;
  }

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::map<uint64_t, Entry> entries_;
};

}  // namespace millrace::queue
