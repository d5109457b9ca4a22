#include "cli/bench/together/precedence.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace millrace::cli {

bool Precedence::is_open_locked(uint32_t priority) const {
  return in_flight_.empty() || in_flight_.rbegin()->first <= priority;
}

bool Precedence::is_open(uint32_t priority) const {
  const std::lock_guard lock(mutex_);
  return is_open_locked(priority);
}

void Precedence::enter(uint32_t priority, int64_t until_ns) {
  std::unique_lock lock(mutex_);
  const std::chrono::nanoseconds rest(std::max<int64_t>(until_ns - now_ns(), 0));
  changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(rest, kLongestWait),
                    [&] { return is_open_locked(priority); });
  ++in_flight_[priority];
}

void Precedence::leave(uint32_t priority) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(priority);
  if (--found->second == 0) in_flight_.erase(found);
  changed_.notify_all();
}

}  // namespace millrace::cli
