#include "queue/lanes/sleepers.h"

#include <algorithm>
#include <bit>

#include "queue/waiting/spin.h"

namespace millrace::queue {

void Sleepers::wake(uint32_t searchers) noexcept {
  // Read only once, so that a lane that was woken here and has found nothing is not woken again.
  uint32_t searching = searching_.load(std::memory_order_seq_cst);
  for (; searching < searchers; ++searching) {
    const LaneId lane = take_parked();
    if (lane == kNoLane) return;
    searching_.fetch_add(1, std::memory_order_seq_cst);
    parkers_[lane].unpark();
  }
}

bool Sleepers::could_wake(uint32_t searchers) const noexcept {
  if (searching_.load(std::memory_order_relaxed) >= searchers) return false;
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
  spin_budget::take();
}

void Sleepers::stop() noexcept {
  stopped_.store(true, std::memory_order_seq_cst);
  for (LaneId lane = 0; lane < id_limit_; ++lane) parkers_[lane].unpark();
}

}  // namespace millrace::queue
