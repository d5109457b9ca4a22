#include "queue/dispatcher.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/contained.h"
#include "base/log.h"
#include "base/thread.h"
#include "queue/process_wide.h"

namespace millrace::queue {
class Dispatcher::Impl {
 public:
  void run();
  static void run_contained(const PreparedCall& call) noexcept;

  std::mutex mutex;
  std::condition_variable work;      // calls or stopping changed
  std::condition_variable finished;  // done changed
  CallQueue calls;
  uint64_t posted = 0;
  uint64_t done = 0;
  bool stopping = false;
  std::thread thread;
  // Read without the lock by start() and on_this_thread().
  std::atomic<bool> started{false};
  std::atomic<std::thread::id> thread_id{};
};

void Dispatcher::Impl::run() {
  thread_id.store(std::this_thread::get_id(), std::memory_order_relaxed);
  CallQueue batch;
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return !calls.empty() || stopping; });
    if (calls.empty()) return;
    batch.swap(calls);
    lock.unlock();
    while (!batch.empty()) {
      // What it captured ends on this thread, before drain returns.
      run_contained(batch.pop());
      const std::lock_guard counting(mutex);
      ++done;
      finished.notify_all();
    }
    lock.lock();
  }
}

void Dispatcher::Impl::run_contained(const PreparedCall& call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    log_format(LogLevel::kError, "queue", "a completion callback threw: {}", error.what());
  } catch (...) {
    log(LogLevel::kError, "queue", "a completion callback threw something unknown");
  }
}

std::shared_ptr<Dispatcher> Dispatcher::instance() {
  return process_wide<Dispatcher>();
}

Dispatcher::Dispatcher() : impl_(std::make_shared<Impl>()) {}

Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->work.notify_all();
  if (!impl_->thread.joinable()) return;
  if (on_this_thread())
    impl_->thread.detach();
  else
    impl_->thread.join();
}

Status Dispatcher::start() noexcept {
  if (impl_->started.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(impl_->mutex);
  if (impl_->started.load(std::memory_order_relaxed)) return {};
  return contained([this]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(impl_->thread,
                              start_thread("millrace-calls", [impl = impl_] { impl->run(); }));
    impl_->started.store(true, std::memory_order_release);
    return {};
  });
}

void Dispatcher::post(PreparedCall call) noexcept {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->calls.push(std::move(call));
    ++impl_->posted;
  }
  impl_->work.notify_one();
}

void Dispatcher::drain() {
  if (on_this_thread()) return;
  std::unique_lock lock(impl_->mutex);
  if (!impl_->started.load(std::memory_order_relaxed)) return;
  impl_->finished.wait(lock, [this, last = impl_->posted] { return impl_->done >= last; });
}

bool Dispatcher::on_this_thread() const noexcept {
  return impl_->thread_id.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

}  // namespace millrace::queue
