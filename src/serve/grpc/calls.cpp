#include "serve/grpc/calls.h"

#include <utility>

namespace millrace::serve {

bool Call::sends_since_before(Clock::time_point time) const noexcept {
  return sends_since_ < time.time_since_epoch().count();
}

bool Call::idles_since_before(Clock::time_point time) const noexcept {
  return idles_since_ < time.time_since_epoch().count();
}

void Call::set_idle(bool idle) noexcept {
  if (!idle)
    idles_since_ = kNothing;
  else if (idles_since_ == kNothing)
    idles_since_ = Clock::now().time_since_epoch().count();
}

void Calls::begin(std::shared_ptr<Call> call) {
  const std::shared_ptr<Call> own = call;
  bool ending = false;
  {
    const std::lock_guard lock(mutex_);
    ending = ending_;
    own->number_ = last_number_ + 1;
    calls_.emplace(own->number_, std::move(call));
    ++last_number_;
    own->is_counted_ = !ending;
    if (own->is_counted_) ++counted_;
  }
  if (ending) own->take_no_more();
}

// The call may be destroyed here, but not under the lock.
void Calls::end(const Call* call) {
  std::shared_ptr<Call> last;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call->number_);
  if (found == calls_.end()) return;
  last = std::move(found->second);
  calls_.erase(found);
  if (last->is_counted_ && --counted_ == 0) none_.notify_all();
}

uint64_t Calls::last_number() {
  const std::lock_guard lock(mutex_);
  return last_number_;
}

// The call with the lowest number from `first` to `last`; null: none.
std::shared_ptr<Call> Calls::find(uint64_t first, uint64_t last) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.lower_bound(first);
  return found == calls_.end() || found->first > last ? nullptr : found->second;
}

// Visits the calls that have begun, one after another outside the lock: no memory is needed for a
// list of them.
template <class Visit>
void Calls::for_each(Visit visit) {
  const uint64_t last = last_number();
  for (auto call = find(0, last); call; call = find(call->number_ + 1, last)) visit(*call);
}

void Calls::cancel_all() {
  for_each([](Call& call) { call.cancel(); });
}

void Calls::take_no_more() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  for_each([](Call& call) { call.take_no_more(); });
}

// Under the lock, since gRPC's part of a call lives until end() has returned. gRPC calls back on
// other threads.
void Calls::abort_slow(Call::Clock::time_point sending, Call::Clock::time_point idle) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, call] : calls_)
    if (call->sends_since_before(sending) || call->idles_since_before(idle)) call->abort();
}

bool Calls::wait_for_none(Call::Clock::time_point limit) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, limit, [this] { return counted_ == 0; });
}

void RequestWork::set(std::shared_ptr<Work> work) {
  bool cancel_now = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || !work) return;
    cancel_now = cancelled_;
    work_ = work;
  }
  if (cancel_now) work->cancel();
}

void RequestWork::cancel() noexcept {
  std::shared_ptr<Work> work;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    work = work_;
  }
  if (work) work->cancel();
}

void RequestWork::end() {
  std::shared_ptr<Work> last;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  last = std::move(work_);
}

}  // namespace millrace::serve
