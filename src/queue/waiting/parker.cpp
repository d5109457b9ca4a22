#include "queue/waiting/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace millrace::queue {
namespace {

// futex(2) is called directly because std::atomic::wait has no timeout, and spins by a policy of
// its own before it sleeps.
long futex(std::atomic<uint32_t>* address, int operation, uint32_t value,
           const timespec* deadline) noexcept {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  return syscall(SYS_futex, address, operation | FUTEX_PRIVATE_FLAG, value, deadline, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

timespec to_timespec(Deadline deadline) noexcept {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  const auto since_boot = std::max(deadline.time_since_epoch(), Deadline::duration::zero());
  const auto whole = std::chrono::duration_cast<seconds>(since_boot);
  return {static_cast<time_t>(whole.count()),
          static_cast<long>(nanoseconds(since_boot - whole).count())};
}

}  // namespace

bool Parker::park_until(Deadline deadline) noexcept {
  uint32_t empty = kEmpty;
  // The exchange fails if the token is there.
  if (state_.compare_exchange_strong(empty, kAsleep, std::memory_order_acquire)) {
    const timespec until = to_timespec(deadline);
    // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which steady_clock reads.
    while (state_.load(std::memory_order_acquire) == kAsleep)
      if (futex(&state_, FUTEX_WAIT_BITSET, kAsleep, deadline == kNoDeadline ? nullptr : &until) !=
              0 &&
          errno == ETIMEDOUT)
        break;
  }
  return state_.exchange(kEmpty, std::memory_order_acquire) == kToken;
}

void Parker::wake(std::atomic<uint32_t>* address) noexcept {
  futex(address, FUTEX_WAKE, 1, nullptr);
}

}  // namespace millrace::queue
