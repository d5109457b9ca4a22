#include "queue/result_table.h"

#include <algorithm>
#include <new>
#include <utility>

namespace millrace::queue {

void ResultTable::record_failure(uint64_t counter, const Status& status, bool started) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    insert({counter, {status, started}});
  } catch (const std::bad_alloc&) {
    insert_without_memory({counter, status.code(), started});
  }
  any_failure_.store(true, std::memory_order_relaxed);
}

void ResultTable::insert(Failure failure) {
  const uint64_t counter = failure.counter;
  while (!failures_.empty() && failures_.front().counter + kRemembered < counter) {
    dropped_through_ = failures_.front().counter;
    failures_.pop_front();
  }
  // Removed requests fail out of order.
  const auto position = std::upper_bound(
      failures_.begin(), failures_.end(), counter,
      [](uint64_t wanted, const Failure& known) { return wanted < known.counter; });
  failures_.insert(position, std::move(failure));
}

void ResultTable::insert_without_memory(const FailureWithoutMemory& failure) noexcept {
  if (without_memory_.size() == without_memory_.capacity()) {
    dropped_through_ = std::max(dropped_through_, without_memory_.front().counter);
    without_memory_.erase(without_memory_.begin());
  }
  without_memory_.push_back(failure);
}

std::optional<ResultTable::Result> ResultTable::find_without_memory(uint64_t counter) const {
  const auto found = std::ranges::find(without_memory_, counter, &FailureWithoutMemory::counter);
  if (found == without_memory_.end()) return std::nullopt;
  return Result{Status(found->code, "no memory for the reason"), found->started};
}

std::optional<ResultTable::Result> ResultTable::find(uint64_t counter) const {
  if (!any_failure_.load(std::memory_order_relaxed)) return Result();
  const std::lock_guard lock(mutex_);
  if (counter <= dropped_through_) return std::nullopt;
  const auto found = std::lower_bound(
      failures_.begin(), failures_.end(), counter,
      [](const Failure& failure, uint64_t wanted) { return failure.counter < wanted; });
  if (found != failures_.end() && found->counter == counter) return found->result;
  return find_without_memory(counter).value_or(Result());
}

}  // namespace millrace::queue
