#include "queue/lanes/sleepers.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "queue/waiting/spin.h"

namespace millrace::queue {

uint32_t Sleepers::wake(uint32_t searchers) noexcept {
  uint32_t woken = 0;
  // Read only once, so that a lane that was woken here and has found nothing is not woken again.
  const uint32_t searching = searching_.load(std::memory_order_seq_cst);
  for (; searching + woken < searchers; ++woken) {
    const LaneId lane = take_parked();
    if (lane == kNoLane) break;
    searching_.fetch_add(1, std::memory_order_seq_cst);
    woken_at_ns_[lane].store(now_ns(), std::memory_order_relaxed);
    parkers_[lane].unpark();
  }
  return woken;
}

bool Sleepers::could_wake(uint32_t searchers) const noexcept {
  return searching() < searchers && any_parked();
}

bool Sleepers::any_parked() const noexcept {
  return std::ranges::any_of(parked_, [](const std::atomic<uint64_t>& lanes) {
    return lanes.load(std::memory_order_relaxed) != 0;
  });
}

LaneId Sleepers::take_parked() noexcept {
  for (size_t word = 0; word < parked_.size(); ++word) {
    uint64_t bits = parked_[word].load(std::memory_order_seq_cst);
    while (bits != 0) {
      const auto lane = static_cast<LaneId>(word * 64 + std::countr_zero(bits));
      if (clear_parked(lane)) return lane;
      bits = parked_[word].load(std::memory_order_seq_cst);
    }
  }
  return kNoLane;
}

void Sleepers::sleep(LaneId lane) noexcept {
  spin_budget::give();
  parkers_[lane].park();
  note_wake(lane);
  spin_budget::take();
}

// Updates the exponential moving average of the time to wake, in which the newest has a weight of
// 1/8. A lane that waits for a core longer than a wake takes anywhere counts as kLongest.
void Sleepers::note_wake(LaneId lane) noexcept {
  constexpr int64_t kLongest = 200'000;
  const int64_t woken_at = woken_at_ns_[lane].exchange(0, std::memory_order_relaxed);
  if (woken_at == 0) return;  // woken by stop()
  const int64_t taken = std::min(now_ns() - woken_at, kLongest);
  const int64_t mean = wake_ns();
  wake_ns_.store(mean == 0 ? taken : mean + (taken - mean) / 8, std::memory_order_relaxed);
}

void Sleepers::stop() noexcept {
  stopped_.store(true, std::memory_order_seq_cst);
  for (LaneId lane = 0; lane < id_limit_; ++lane) parkers_[lane].unpark();
}

}  // namespace millrace::queue
