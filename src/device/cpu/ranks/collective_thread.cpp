#include "device/cpu/ranks/collective_thread.h"

#include <utility>

#include "base/cancellation.h"
#include "base/process/thread.h"

namespace millrace::device::cpu {

Result<std::unique_ptr<CollectiveThread>> CollectiveThread::start() {
  std::unique_ptr<CollectiveThread> made(new CollectiveThread);
  MILLRACE_ASSIGN_OR_RETURN(
      made->thread_, start_thread("millrace-rank", [thread = made.get()] { thread->work(); }));
  return made;
}

CollectiveThread::~CollectiveThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  begun_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CollectiveThread::begin(Call& call, const Step& step, const RunState& state) noexcept {
  const CancellationOff whole;
  {
    const std::lock_guard lock(mutex_);
    call.step_ = &step;
    call.state_.emplace(state);
    call.is_done_ = false;
    call.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &call;
    last_ = &call;
  }
  begun_.notify_one();
}

Status CollectiveThread::await(Call& call) noexcept {
  const CancellationOff whole;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return call.is_done_; });
  return std::exchange(call.status_, Status());
}

void CollectiveThread::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [this] { return first_ != nullptr || is_ending_; });
    if (first_ == nullptr) return;
    Call& call = *first_;
    lock.unlock();
    Status status = call.step_->run(*call.state_);
    lock.lock();
    first_ = call.next_;
    call.status_ = std::move(status);
    call.is_done_ = true;
    done_.notify_all();
  }
}

}  // namespace millrace::device::cpu
