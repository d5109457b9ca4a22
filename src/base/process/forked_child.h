// Behaviour in a forked child, which may only exit, exec, and destroy the objects that it has. The
// threads of Millrace exist only in the parent, and a mutex that another thread held at the time of
// the fork stays locked for ever. So calls are refused in the child, and objects that belong to
// such threads or may be locked are left as they are instead of being destroyed.
//
// This concerns children of a process in which Millrace had started a thread. A process that forks
// before that may use Millrace in both processes. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/never_destroyed.h"
#include "base/status.h"

namespace millrace {

namespace forked_child_internal {
extern std::atomic<bool> is_child;
}  // namespace forked_child_internal

inline bool is_forked_child() noexcept {
  return forked_child_internal::is_child.load(std::memory_order_relaxed);
}

// Returns the status of calls in the child: kForked, with the remedy.
Status forked_status() noexcept;

// Registers a handler by which later children recognise themselves as such. Must be called before
// Millrace starts a thread. kOutOfMemory.
Status watch_for_forks() noexcept;

// Keeps the object alive for ever.
template <class T>
void never_destroy(std::shared_ptr<T> object) noexcept {
  [[maybe_unused]] const NeverDestroyed<std::shared_ptr<T>> kept(std::move(object));
}

}  // namespace millrace
