// CallbackLog: the arguments of callbacks, in the order of their calls. Thread-safe. Must outlive
// the units whose jobs have its callbacks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {

class CallbackLog {
 public:
  struct Entry {
    JobId id = 0;
    Status status;
    std::thread::id thread;
  };

  // A callback for any number of jobs.
  JobCallback callback() {
    return [this](JobId id, const Status& status) { add(id, status); };
  }
  void add(JobId id, const Status& status) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({id, status, std::this_thread::get_id()});
    changed_.notify_all();
  }

  // Returns when so many callbacks have been called; false when they are not.
  bool await(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return entries_.size() >= count; });
  }
  std::vector<Entry> entries() {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  std::vector<JobId> ids() {
    std::vector<JobId> ids;
    for (const Entry& entry : entries()) ids.push_back(entry.id);
    return ids;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace millrace::conformance
