// A forked child may do nothing with Millrace but exit, exec, and destroy what it
// has. The threads of the library exist in the parent only, and a lock that another thread held at
// the fork stays locked for ever. So in the child calls are refused, and what belongs to such
// threads or may be locked is left as it is instead of being destroyed.
//
// This concerns children of a process in which the library had started a thread; a process that
// forks before may use the library on both sides. Thread-safe.
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

// kForked, with the remedy: what calls return in the child.
Status forked_status() noexcept;

// Lets children recognise themselves as such. Call it before Millrace starts a thread.
// kOutOfMemory.
Status watch_for_forks() noexcept;

// Keeps the object for ever.
template <class T>
void never_destroy(std::shared_ptr<T> object) noexcept {
  [[maybe_unused]] const NeverDestroyed<std::shared_ptr<T>> kept(std::move(object));
}

}  // namespace millrace
