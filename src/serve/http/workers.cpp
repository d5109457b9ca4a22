#include "serve/http/workers.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/process/thread.h"

namespace millrace::serve {

Workers::Workers(unsigned threads, size_t most_waiting) : most_waiting_(most_waiting) {
  threads_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    auto thread = start_thread("millrace-worker", [this] { run(); });
    if (!thread.ok()) {
      join();
      throw std::runtime_error(thread.status().message());
    }
    threads_.push_back(*std::move(thread));
  }
}

Workers::~Workers() {
  join();
}

Workers::Ticket Workers::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (ending_ || waiting_.size() >= most_waiting_) return kNoTask;
  waiting_.push_back({last_ + 1, std::move(work)});
  changed_.notify_one();
  return ++last_;
}

bool Workers::withdraw(Ticket ticket) {
  std::function<void()> withdrawn;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(waiting_, ticket, &Task::ticket);
  if (found == waiting_.end()) return false;
  withdrawn = std::move(found->work);
  waiting_.erase(found);
  return true;
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front().work);
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // destroyed without the lock
    lock.lock();
  }
}

void Workers::join() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

}  // namespace millrace::serve
