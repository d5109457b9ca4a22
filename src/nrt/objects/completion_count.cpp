#include "nrt/objects/completion_count.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/log.h"

namespace millrace::nrt {
namespace {

// How long a wait without a timeout lasts before it is logged.
constexpr std::chrono::seconds kPatience{30};

}  // namespace

void CompletionCount::add() noexcept {
  const std::lock_guard lock(mutex_);
  ++count_;
  changed_.notify_all();
}

void CompletionCount::reset() noexcept {
  const std::lock_guard lock(mutex_);
  count_ = 0;
}

CompletionCount::Outcome CompletionCount::wait(uint64_t expected,
                                               std::optional<std::chrono::microseconds> timeout) {
  const CancellationOff whole;
  std::unique_lock lock(mutex_);
  const auto over = [&] { return closed_ || count_ >= expected; };
  if (timeout) {
    changed_.wait_for(lock, std::min<std::chrono::microseconds>(*timeout, kLongestWait), over);
  } else if (!changed_.wait_for(lock, kPatience, over)) {
    log(LogLevel::kWarning, "nrt",
        "still waiting for the completion of an output tensor after 30 s");
    changed_.wait(lock, over);
  }
  if (count_ >= expected) return Outcome::kReached;
  return closed_ ? Outcome::kClosed : Outcome::kTimeout;
}

void CompletionCount::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace millrace::nrt
