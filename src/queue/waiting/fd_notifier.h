// FdNotifier: writes to event fds when requests of a unit complete or places become free. Each
// write is the 64-bit integer 1, as eventfd(2) expects it. Thread-safe.
//
// Descriptors are duplicated when they are registered, so the caller may close its own at any time.
// A descriptor that cannot take the 8 bytes at once (a full pipe, an eventfd at its largest value)
// is skipped: its reader finds it readable anyway, and completion never blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::queue {

class FdNotifier {
 public:
  // Registers `fd` for one request. `is_completed(counter)` is called after the registration is
  // visible; if it returns true, the fd is written to at once. A negative fd removes the
  // registration. A request has one registration per slot.
  template <class IsCompleted>
  Status set(uint64_t counter, uint8_t slot, int fd, IsCompleted&& is_completed) {
    MILLRACE_RETURN_IF_ERROR(replace({counter, slot}, fd));
    if (is_completed(counter)) completed(counter, counter);
    return {};
  }
  // Registers `fd` for every completion; a negative fd removes it.
  Status set_each(int fd);
  // Registers `fd` for the condition that `k` places are free. `has_room(k)` is called after the
  // registration is visible, like is_completed above.
  template <class HasRoom>
  Status set_free(uint32_t k, int fd, HasRoom&& has_room) {
    MILLRACE_RETURN_IF_ERROR(replace_free(k, fd));
    notify_free(has_room);
    return {};
  }

  // Returns whether anything is registered. Sequentially consistent: a completing thread publishes
  // the completion and then reads this; a registering thread registers and then reads the
  // completion. At least one of the two sees the other.
  bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; }

  // Writes to the fds that are registered for requests `first` to `last`, and removes them.
  void completed(uint64_t first, uint64_t last) noexcept;
  // Writes to the fd that is registered for every completion.
  void notify_each() noexcept;
  // Call when places may have become free.
  template <class HasRoom>
  void notify_free(HasRoom&& has_room) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_ && has_room(wanted_free_)) add_one(free_);
  }

 private:
  using Key = std::pair<uint64_t, uint8_t>;  // counter and slot

  static void add_one(const UniqueFd& fd) noexcept;
  Status replace(const Key& key, int fd);
  Status replace_free(uint32_t k, int fd);
  void update_count() noexcept;

  std::atomic<size_t> count_{0};  // number of descriptors below; changes under mutex_
  std::mutex mutex_;
  std::map<Key, UniqueFd> by_counter_;
  UniqueFd each_;
  UniqueFd free_;
  uint32_t wanted_free_ = 0;
};

}  // namespace millrace::queue
