#include "queue/result_table.h"

#include <algorithm>

namespace millrace::queue {

void ResultTable::record_failure(uint64_t counter, const Status& status) {
  const std::lock_guard lock(mutex_);
  while (!failures_.empty() && failures_.front().counter + kRemembered < counter) {
    dropped_through_ = failures_.front().counter;
    failures_.pop_front();
  }
  // Withdrawn requests fail out of order.
  const auto place = std::upper_bound(
      failures_.begin(), failures_.end(), counter,
      [](uint64_t wanted, const Failure& failure) { return wanted < failure.counter; });
  failures_.insert(place, {counter, status});
  any_failure_.store(true, std::memory_order_relaxed);
}

std::optional<Status> ResultTable::find(uint64_t counter) const {
  if (!any_failure_.load(std::memory_order_relaxed)) return Status();
  const std::lock_guard lock(mutex_);
  if (counter <= dropped_through_) return std::nullopt;
  const auto found = std::lower_bound(
      failures_.begin(), failures_.end(), counter,
      [](const Failure& failure, uint64_t wanted) { return failure.counter < wanted; });
  return found != failures_.end() && found->counter == counter ? found->status : Status();
}

}  // namespace millrace::queue
