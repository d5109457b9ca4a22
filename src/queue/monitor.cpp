#include "queue/monitor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "queue/process_wide.h"

namespace millrace::queue {

class Monitor::Impl {
 public:
  struct Call {
    Deadline when;
    std::weak_ptr<Watched> watched;
  };
  static bool later(const Call& a, const Call& b) noexcept { return a.when > b.when; }

  void run();

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Call> calls;  // a heap, earliest first
  bool stopping = false;
  std::thread thread;
  std::atomic<bool> started{false};
};

void Monitor::Impl::run() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (calls.empty()) {
      changed.wait(lock);
      continue;
    }
    if (const Deadline next = calls.front().when; next > std::chrono::steady_clock::now()) {
      changed.wait_until(lock, next);
      continue;
    }
    std::pop_heap(calls.begin(), calls.end(), later);
    const std::weak_ptr<Watched> due = std::move(calls.back().watched);
    calls.pop_back();
    lock.unlock();
    if (const std::shared_ptr<Watched> watched = due.lock()) watched->on_time();
    lock.lock();
  }
}

std::shared_ptr<Monitor> Monitor::instance() {
  return process_wide<Monitor>();
}

Monitor::Monitor() : impl_(std::make_shared<Impl>()) {}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  if (!impl_->thread.joinable()) return;
  // On its own thread when on_time dropped the last pointer.
  if (impl_->thread.get_id() == std::this_thread::get_id())
    impl_->thread.detach();
  else
    impl_->thread.join();
}

Status Monitor::start() {
  if (impl_->started.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(impl_->mutex);
  if (impl_->started.load(std::memory_order_relaxed)) return {};
  MILLRACE_ASSIGN_OR_RETURN(impl_->thread,
                            start_thread("millrace-clock", [impl = impl_] { impl->run(); }));
  impl_->started.store(true, std::memory_order_release);
  return {};
}

void Monitor::call_at(Deadline when, std::weak_ptr<Watched> watched) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->calls.push_back({when, std::move(watched)});
    std::push_heap(impl_->calls.begin(), impl_->calls.end(), Impl::later);
  }
  impl_->changed.notify_one();
}

}  // namespace millrace::queue
