// The monitor's thread: it keeps the pending calls sorted by time in an intrusive multiset and
// sleeps on a condition variable until the earliest is due. Calls are made without the lock,
// through a weak pointer, so an object may be destroyed while its call is pending.
#include "queue/waiting/monitor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/cancellation.h"
#include "base/contained.h"
#include "base/process/forked_child.h"
#include "base/process/thread.h"
#include "queue/waiting/process_wide.h"

namespace millrace::queue {
namespace {

// The longest sleep while a call is pending. A stop of the process that is shorter may go
// unnoticed.
constexpr std::chrono::milliseconds kLongestSleep{100};

constinit LateWakes late_wakes_of_process;

}  // namespace

class Monitor::Impl {
 public:
  struct Earlier {
    bool operator()(const Watched& a, const Watched& b) const noexcept { return a.due_ < b.due_; }
  };

  void run();

  std::mutex mutex;
  std::condition_variable changed;
  boost::intrusive::multiset<Watched, boost::intrusive::compare<Earlier>> calls;  // earliest first
  bool stopping = false;
  std::thread thread;
  std::atomic<bool> started{false};
};

void Monitor::Impl::run() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    const Deadline now = std::chrono::steady_clock::now();
    late_wakes_of_process.woke(now);
    if (calls.empty()) {
      changed.wait(lock);
      continue;
    }
    if (const Deadline next = calls.begin()->due_; next > now) {
      const Deadline wake = std::min<Deadline>(next, now + kLongestSleep);
      late_wakes_of_process.sleeps_until(wake);
      changed.wait_until(lock, wake);
      continue;
    }
    std::shared_ptr<Watched> due = calls.begin()->self_.lock();
    calls.erase(calls.begin());
    late_wakes_of_process.sleeps_until(now + kLongestSleep);
    lock.unlock();
    if (due) due->on_time();
    due.reset();  // perhaps the last pointer to it, and with it to this monitor, which takes the
                  // lock
    lock.lock();
  }
}

std::shared_ptr<Monitor> Monitor::instance() {
  return process_wide<Monitor>();
}

const LateWakes& Monitor::late_wakes() noexcept {
  return late_wakes_of_process;
}

Monitor::Monitor() : impl_(std::make_shared<Impl>()) {}

Monitor::~Monitor() {
  if (is_forked_child()) {
    never_destroy(impl_);
    return;
  }
  const CancellationOff whole;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  if (!impl_->thread.joinable()) return;
  // The destructor runs on the monitor's own thread when on_time() has dropped the last pointer.
  if (impl_->thread.get_id() == std::this_thread::get_id())
    impl_->thread.detach();
  else
    impl_->thread.join();
}

Status Monitor::start() noexcept {
  if (impl_->started.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(impl_->mutex);
  if (impl_->started.load(std::memory_order_relaxed)) return {};
  return contained([this]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(impl_->thread,
                              start_thread("millrace-clock", [impl = impl_] { impl->run(); }));
    impl_->started.store(true, std::memory_order_release);
    return {};
  });
}

void Monitor::call_at(Deadline when, const std::shared_ptr<Watched>& watched) noexcept {
  {
    const std::lock_guard lock(impl_->mutex);
    if (watched->is_linked()) {
      if (watched->due_ <= when) return;
      impl_->calls.erase(impl_->calls.iterator_to(*watched));
    }
    // From here on a stop of the process is measured, even if it begins before the thread wakes.
    if (impl_->calls.empty())
      late_wakes_of_process.sleeps_until(std::chrono::steady_clock::now() + kLongestSleep);
    watched->due_ = when;
    watched->self_ = watched;
    impl_->calls.insert(*watched);
  }
  impl_->changed.notify_one();
}

void Monitor::forget(Watched& watched) noexcept {
  const std::lock_guard lock(impl_->mutex);
  if (watched.is_linked()) impl_->calls.erase(impl_->calls.iterator_to(watched));
}

}  // namespace millrace::queue
