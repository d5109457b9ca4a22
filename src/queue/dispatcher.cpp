#include "queue/dispatcher.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/log.h"

namespace millrace::queue {
namespace {

void run_contained(const std::function<void()>& call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    log(LogLevel::kError, "queue", fmt::format("a completion callback threw: {}", error.what()));
  } catch (...) {
    log(LogLevel::kError, "queue", "a completion callback threw something unknown");
  }
}

}  // namespace

class Dispatcher::Impl {
 public:
  void run();

  std::mutex mutex;
  std::condition_variable work;      // calls or stopping changed
  std::condition_variable finished;  // done changed
  std::vector<std::function<void()>> calls;
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
  std::vector<std::function<void()>> batch;
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return !calls.empty() || stopping; });
    if (calls.empty()) return;
    batch.swap(calls);
    lock.unlock();
    for (std::function<void()>& call : batch) {
      run_contained(call);
      call = nullptr;  // What it captured ends on this thread, before drain returns.
      const std::lock_guard counting(mutex);
      ++done;
      finished.notify_all();
    }
    batch.clear();
    lock.lock();
  }
}

std::shared_ptr<Dispatcher> Dispatcher::instance() {
  // Never destroyed: units may be made and end while the process exits.
  static auto* mutex = new std::mutex;
  static auto* current = new std::weak_ptr<Dispatcher>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<Dispatcher> dispatcher = current->lock();
  if (!dispatcher) {
    dispatcher = std::make_shared<Dispatcher>();
    *current = dispatcher;
  }
  return dispatcher;
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

Status Dispatcher::start() {
  if (impl_->started.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(impl_->mutex);
  if (impl_->started.load(std::memory_order_relaxed)) return {};
  try {
    impl_->thread = std::thread([impl = impl_] { impl->run(); });
  } catch (const std::system_error& error) {
    return {StatusCode::kUnavailable,
            fmt::format("the thread for callbacks could not be started: {}", error.what())};
  }
  impl_->started.store(true, std::memory_order_release);
  return {};
}

void Dispatcher::post(std::function<void()> call) {
  if (const Status status = start(); !status.ok()) log(LogLevel::kError, "queue", status.message());
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->calls.push_back(std::move(call));
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
