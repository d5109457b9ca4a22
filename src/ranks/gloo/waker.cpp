#include "ranks/gloo/waker.h"

#include <chrono>

#include "base/process/thread.h"

namespace millrace::ranks {
namespace {

constexpr std::chrono::milliseconds kInterval(50);
// After these without a wait the thread sleeps until there is one again.
constexpr int kIdleIntervals = 20;

}  // namespace

Result<std::unique_ptr<Waker>> Waker::start() {
  std::unique_ptr<Waker> waker(new Waker);
  MILLRACE_ASSIGN_OR_RETURN(waker->thread_,
                            start_thread("millrace-ranks", [own = waker.get()] { own->run(); }));
  return waker;
}

Waker::~Waker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Waker::run() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!ending_) {
    idle = waiting_.empty() ? idle + 1 : 0;
    asleep_ = idle >= kIdleIntervals;
    if (asleep_)
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    else
      changed_.wait_for(lock, kInterval);
    for (gloo::transport::UnboundBuffer* const buffer : waiting_) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }
}

Waker::Waiting::Waiting(Waker& waker, gloo::transport::UnboundBuffer& buffer)
    : waker_(waker), buffer_(buffer) {
  const std::lock_guard lock(waker_.mutex_);
  waker_.waiting_.push_back(&buffer_);
  if (waker_.asleep_) waker_.changed_.notify_one();
}

Waker::Waiting::~Waiting() {
  const std::lock_guard lock(waker_.mutex_);
  std::erase(waker_.waiting_, &buffer_);
}

}  // namespace millrace::ranks
