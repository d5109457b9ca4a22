// RunLog: which requests of the process were submitted and started while the log lives, and where
// they started. Thread-safe.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/hooks.h"

namespace millrace::test {

// The logical processors on which the calling thread may run.
inline std::vector<int> cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

class RunLog {
 public:
  RunLog() { EXPECT_TRUE(add_hook(note, this)); }
  ~RunLog() { remove_hook(note, this); }
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // Sequence ids, in order.
  std::vector<uint64_t> submitted() const { return copy_of(submitted_); }
  std::vector<uint64_t> started() const { return copy_of(started_); }
  // The thread, and its cores, of each request that started.
  std::vector<std::thread::id> threads() const { return copy_of(threads_); }
  std::vector<std::vector<int>> cores() const { return copy_of(cores_); }

 private:
  static void note(void* log, const HookEvent& event) noexcept {
    static_cast<RunLog*>(log)->add(event);
  }
  void add(const HookEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.point == HookPoint::kSubmitted) submitted_.push_back(event.subject);
    if (event.point != HookPoint::kStarted) return;
    started_.push_back(event.subject);
    threads_.push_back(std::this_thread::get_id());
    cores_.push_back(cores_of_this_thread());
  }
  template <class T>
  T copy_of(const T& list) const {
    const std::lock_guard lock(mutex_);
    return list;
  }

  mutable std::mutex mutex_;
  std::vector<uint64_t> submitted_, started_;
  std::vector<std::thread::id> threads_;
  std::vector<std::vector<int>> cores_;
};

}  // namespace millrace::test
