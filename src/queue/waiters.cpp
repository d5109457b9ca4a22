#include "queue/waiters.h"

namespace millrace::queue {

bool Waiters::park(const Ring& ring, uint64_t counter, Deadline deadline) {
  Sleeper sleeper(counter);
  std::unique_lock lock(mutex_);
  link(sleeper);
  if (!ring.is_completed(counter))
    sleeper.wake.wait_until(lock, deadline, [&] { return sleeper.woken; });
  if (!sleeper.woken) unlink(sleeper);
  return ring.is_completed(counter);
}

void Waiters::wake_parked(uint64_t completed) noexcept {
  const std::lock_guard lock(mutex_);
  while (first_ != nullptr && first_->counter <= completed) {
    Sleeper& sleeper = *first_;
    first_ = sleeper.next;
    sleeper.woken = true;
    // Under the lock: once it is free the sleeper may leave and take the condition variable along.
    sleeper.wake.notify_one();
  }
  update_first_wanted();
}

void Waiters::link(Sleeper& sleeper) noexcept {
  Sleeper** place = &first_;
  while (*place != nullptr && (*place)->counter <= sleeper.counter) place = &(*place)->next;
  sleeper.next = *place;
  *place = &sleeper;
  update_first_wanted();
}

void Waiters::unlink(Sleeper& sleeper) noexcept {
  Sleeper** place = &first_;
  while (*place != &sleeper) place = &(*place)->next;
  *place = sleeper.next;
  update_first_wanted();
}

void Waiters::update_first_wanted() noexcept {
  first_wanted_.store(first_ != nullptr ? first_->counter : kNobody, std::memory_order_seq_cst);
}

}  // namespace millrace::queue
