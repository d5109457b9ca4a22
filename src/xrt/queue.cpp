// xrt::queue: a thread that takes tasks from a list, first in, first out.
#include "xrt/experimental/xrt_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/cancellation.h"
#include "base/process/forked_child.h"
#include "base/process/thread.h"
#include "base/value_or_throw.h"

namespace xrt {
namespace {

// The tasks of a queue, shared by its handles and its thread, which may outlive them.
class Tasks {
 public:
  void add(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
    changed_.notify_one();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

  // Runs tasks until the list is closed and empty.
  void run_all() {
    while (const std::function<void()> task = next()) task();
  }

 private:
  // Returns an empty function when there will be no more.
  std::function<void()> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return {};
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool closed_ = false;
};

}  // namespace

class queue_impl {
 public:
  queue_impl()
      : thread_(millrace::value_or_throw(
            millrace::start_thread("millrace-xrt", [tasks = tasks_] { tasks->run_all(); }),
            "xrt::queue")) {}

  ~queue_impl() {
    // In a forked child the thread does not exist, and its lock may be held for ever.
    if (millrace::is_forked_child()) {
      thread_.detach();
      millrace::never_destroy(std::move(tasks_));
      return;
    }
    tasks_->close();
    const millrace::CancellationOff whole;
    // A task may own the last handle; its thread then ends by itself.
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }
  queue_impl(const queue_impl&) = delete;
  queue_impl& operator=(const queue_impl&) = delete;

  void add(std::function<void()> task) {
    if (millrace::is_forked_child()) throw std::runtime_error(millrace::forked_status().message());
    tasks_->add(std::move(task));
  }

 private:
  std::shared_ptr<Tasks> tasks_ = std::make_shared<Tasks>();
  std::thread thread_;
};

queue::queue() : impl_(std::make_shared<queue_impl>()) {}

void queue::add_task(std::function<void()> task) {
  if (impl_ == nullptr) throw std::invalid_argument("xrt::queue: the queue is empty");
  impl_->add(std::move(task));
}

}  // namespace xrt
