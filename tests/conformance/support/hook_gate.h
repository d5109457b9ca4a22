// HookGate: records which jobs of the process pass one hook point, and on which thread, and holds
// those that the test chose there. At HookPoint::kStarted that makes a job that runs and makes no
// progress, on any device; at kCompleted one whose completion is just being published.
//
// Thread-safe, except where stated.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/hooks.h"
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {

class HookGate {
 public:
  explicit HookGate(HookPoint point = HookPoint::kStarted) : point_(point) {
    EXPECT_TRUE(add_hook(&HookGate::on_event, this));
  }
  // Releases first. No other thread may use the gate.
  ~HookGate() {
    release();
    remove_hook(&HookGate::on_event, this);
  }
  HookGate(const HookGate&) = delete;
  HookGate& operator=(const HookGate&) = delete;

  // Holds the job that will have this id (next_id): call before it is submitted.
  void hold(JobId id) {
    const std::lock_guard lock(mutex_);
    held_.insert(id);
  }
  // Lets a job go, or all of them.
  void release(JobId id) {
    const std::lock_guard lock(mutex_);
    held_.erase(id);
    changed_.notify_all();
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_.clear();
    changed_.notify_all();
  }

  // Returns when the job has come here; false when it does not.
  bool await(JobId id) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return count_locked(id) > 0; });
  }
  // How often the job has come here.
  size_t count(JobId id) {
    const std::lock_guard lock(mutex_);
    return count_locked(id);
  }
  // The thread on which it did. Requirement: it has.
  std::thread::id thread_of(JobId id) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(passed_, id, &Passed::id)->thread;
  }
  // All that have come here, in order.
  std::vector<JobId> ids() {
    const std::lock_guard lock(mutex_);
    std::vector<JobId> ids;
    for (const Passed& passed : passed_) ids.push_back(passed.id);
    return ids;
  }

 private:
  struct Passed {
    JobId id;
    std::thread::id thread;
  };

  static void on_event(void* self, const HookEvent& event) noexcept {
    static_cast<HookGate*>(self)->pass(event);
  }
  void pass(const HookEvent& event) {
    if (event.point != point_) return;
    std::unique_lock lock(mutex_);
    passed_.push_back({event.subject, std::this_thread::get_id()});
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_.contains(event.subject); });
  }
  size_t count_locked(JobId id) const {
    return static_cast<size_t>(std::ranges::count(passed_, id, &Passed::id));
  }

  const HookPoint point_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<JobId> held_;
  std::vector<Passed> passed_;
};

}  // namespace millrace::conformance
