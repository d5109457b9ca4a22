#include "queue/requests/result_table.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace millrace::queue {

void ResultTable::record_failure(uint64_t counter, const Status& status, bool started) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    insert({counter, {status, started}});
  } catch (const std::exception&) {
    failures_.clear();
    dropped_from_ = 0;
    dropped_through_ = std::max(dropped_through_, counter);
  }
  any_failure_.store(true, std::memory_order_relaxed);
}

void ResultTable::insert(Failure failure) {
  const uint64_t counter = failure.counter;
  while (!failures_.empty() && failures_.front().counter + kRemembered < counter) drop_oldest();
  if (failures_.full()) make_room();
  // Sorted insertion: removed requests complete, and so fail, out of order.
  const auto position = std::upper_bound(
      failures_.begin(), failures_.end(), counter,
      [](uint64_t wanted, const Failure& known) { return wanted < known.counter; });
  failures_.insert(position, std::move(failure));
}

void ResultTable::drop_oldest() {
  const uint64_t oldest = failures_.front().counter;
  dropped_from_ = std::min(dropped_from_, oldest);
  dropped_through_ = std::max(dropped_through_, oldest);
  failures_.pop_front();
}

void ResultTable::make_room() {
  try {
    failures_.set_capacity(2 * failures_.capacity());
  } catch (const std::bad_alloc&) {
    drop_oldest();
  }
}

std::optional<ResultTable::Result> ResultTable::find(uint64_t counter) const {
  if (!any_failure_.load(std::memory_order_relaxed)) return Result();
  const std::lock_guard lock(mutex_);
  const auto found = std::lower_bound(
      failures_.begin(), failures_.end(), counter,
      [](const Failure& failure, uint64_t wanted) { return failure.counter < wanted; });
  if (found != failures_.end() && found->counter == counter) return found->result;
  if (counter >= dropped_from_ && counter <= dropped_through_) return std::nullopt;
  return Result();
}

}  // namespace millrace::queue
