// BusyTime: how long a stage had something to do.
#pragma once

#include <chrono>
#include <mutex>

// The time in which at least one piece of work was under way; pieces may overlap. Thread-safe.
class BusyTime {
 public:
  void begin() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (under_way_++ == 0) since_ = Clock::now();
  }
  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--under_way_ == 0) total_ += Clock::now() - since_;
  }

  // Milliseconds that have been counted since the last call. Requirement: nothing is under way.
  double take_milliseconds() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double milliseconds = total_.count();
    total_ = {};
    return milliseconds;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  int under_way_ = 0;
  Clock::time_point since_;
  std::chrono::duration<double, std::milli> total_{};
};

// One piece of work, as long as the object lives.
class BusyScope {
 public:
  explicit BusyScope(BusyTime& time) : time_(time) { time_.begin(); }
  ~BusyScope() { time_.end(); }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  BusyTime& time_;
};
