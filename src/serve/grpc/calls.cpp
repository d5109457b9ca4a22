#include "serve/grpc/calls.h"

#include <utility>

namespace millrace::serve {

void Calls::begin(std::shared_ptr<Call> call) {
  const Call* const key = call.get();
  const std::shared_ptr<Call> own = call;
  bool ending = false;
  {
    const std::lock_guard lock(mutex_);
    calls_.emplace(key, std::move(call));
    ending = ending_;
  }
  if (ending) own->take_no_more();
}

// The call may be destroyed here, but not under the lock.
void Calls::end(const Call* call) {
  std::shared_ptr<Call> last;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  last = std::move(found->second);
  calls_.erase(found);
  if (calls_.empty()) none_.notify_all();
}

std::vector<std::shared_ptr<Call>> Calls::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Call>> calls;
  for (const auto& [key, call] : calls_) calls.push_back(call);
  return calls;
}

void Calls::cancel_all() {
  for (const auto& call : all()) call->cancel();
}

void Calls::take_no_more() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  for (const auto& call : all()) call->take_no_more();
}

bool Calls::wait_for_none(std::chrono::steady_clock::time_point limit) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, limit, [this] { return calls_.empty(); });
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
