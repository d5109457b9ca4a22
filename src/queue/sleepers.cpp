#include "queue/sleepers.h"

#include "queue/spin.h"

namespace millrace::queue {

void Sleepers::wake_parked() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (searching_.load(std::memory_order_seq_cst) != 0 ||
        parked_.load(std::memory_order_relaxed) == 0)
      return;  // Another adder was faster, or the lane looked again by itself.
    parked_.fetch_sub(1, std::memory_order_seq_cst);
    searching_.fetch_add(1, std::memory_order_seq_cst);
    ++wake_ups_;
  }
  wake_.notify_one();
}

bool Sleepers::sleep(std::unique_lock<std::mutex>& lock) {
  spin_budget::give();
  wake_.wait(lock, [this] { return wake_ups_ > 0 || stopped_; });
  spin_budget::take();
  if (stopped_) return false;
  --wake_ups_;
  return true;
}

void Sleepers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
}

}  // namespace millrace::queue
