// RunControl: the connection between a running request and its observers. The request reports its
// progress and checks, between two pieces of work, whether to stop. A watchdog reads the progress;
// cancellations and deadlines request a stop.
//
// Only the thread that runs the request writes it, except for request_stop(). position() and
// marks() may be read by any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/requests/ids.h"

namespace millrace::queue {

// A point in a request's work: the indices of a frame of the job, of a partition of the model, and
// of a step (operator).
struct RunPosition {
  uint16_t frame = 0;
  uint16_t partition = 0;
  uint32_t step = 0;
};

enum class StopCause : uint8_t { kNone, kCancelled, kDeadline };

// Return the status of a request that stopped for this cause after it had started, and of a request
// that was removed before it started. Each status is created once and shared, since a unit keeps
// the statuses of many requests.
const Status& stopped_status(StopCause cause);
const Status& removed_status(StopCause cause);

class RunControl;
class Team;

// Is called at the beginning of every piece of work, on the thread that runs the request. It may
// block there, as long as it returns once control.stop_requested() is true.
class ProgressObserver {
 public:
  ProgressObserver() = default;
  ProgressObserver(const ProgressObserver&) = delete;
  ProgressObserver& operator=(const ProgressObserver&) = delete;

  virtual void on_progress(const RunControl& control) noexcept = 0;
  // Called when the steps of a frame are done: the work that follows belongs to no step.
  virtual void on_steps_done(const RunControl&) noexcept {}

 protected:
  ~ProgressObserver() = default;

 private:
  friend class ObserverScope;
  friend class OutermostObserverScope;
  friend class RunControl;
  ProgressObserver* outer_ = nullptr;  // the observer of the enclosing scope
};

class RunControl {
 public:
  SequenceId sequence() const noexcept { return sequence_; }
  LaneId lane() const noexcept { return lane_; }
  // The number of the request among those that its device has accepted (AcceptanceOrder), from 1;
  // 0 where nothing numbers them.
  uint64_t number() const noexcept { return number_; }

  // The team of idle lanes that may compute chunks of this request (queue/lanes/team.h); the
  // request is their leader, as lane(). Null if the request must stay on its own thread.
  Team* team() const noexcept { return team_; }

  // Call at the beginning of a piece of work: a frame of the job, a partition of the frame (with
  // the number of its first step), a step (an operator) of the partition. Relaxed stores are
  // enough: a watchdog only has to see, before its timeout, that something has changed.
  void begin_frame(uint32_t frame) noexcept { at({static_cast<uint16_t>(frame), 0, 0}); }
  void begin_partition(uint32_t partition, uint32_t first_step = 0) noexcept {
    at({position().frame, static_cast<uint16_t>(partition), first_step});
  }
  void begin_step(uint32_t step) noexcept { at({position().frame, position().partition, step}); }
  RunPosition position() const noexcept {
    return unpack(position_.load(std::memory_order_relaxed));
  }
  // Returns the number of pieces of work begun since this object was made, over all requests.
  uint64_t marks() const noexcept { return marks_.load(std::memory_order_relaxed); }

  // Returns whether there is an observer. For the running thread.
  bool is_observed() const noexcept { return innermost_ != nullptr; }
  // Call on the running thread when the steps of a frame are done.
  void end_steps() noexcept {
    if (innermost_ != nullptr) [[unlikely]]
      notify_steps_done(innermost_);
  }

  // Returns whether the request should end before its next piece of work, with stop_status(): it
  // was cancelled, or its deadline has passed. Costs one relaxed load, and a read of the clock if
  // the request has a deadline. For the running thread.
  bool stop_requested() const noexcept { return stop_cause() != StopCause::kNone; }
  StopCause stop_cause() const noexcept {
    if (stop_.load(std::memory_order_relaxed) == sequence_) return StopCause::kCancelled;
    if (deadline_ != kNoDeadline && std::chrono::steady_clock::now() >= deadline_)
      return StopCause::kDeadline;
    return StopCause::kNone;
  }
  const Status& stop_status() const { return stopped_status(stop_cause()); }

  // For the unit, on the running thread before each request. A number of 0 means none.
  void begin(SequenceId sequence, LaneId lane, Deadline deadline, uint64_t number = 0) noexcept {
    sequence_ = sequence;
    number_ = number;
    lane_ = lane;
    deadline_ = deadline;
    at({});
  }
  // For the unit, before the first request. A task passes null before its work if it must stay on
  // its own thread.
  void set_team(Team* team) noexcept { team_ = team; }
  // For the unit. Thread-safe. Asks this request to stop, and none that runs later.
  void request_stop(SequenceId sequence) noexcept {
    uint64_t before = stop_.load(std::memory_order_relaxed);
    while (before < sequence &&
           !stop_.compare_exchange_weak(before, sequence, std::memory_order_relaxed)) {
    }
  }

 private:
  friend class ObserverScope;
  friend class OutermostObserverScope;

  void at(RunPosition position) noexcept {
    position_.store(pack(position), std::memory_order_relaxed);
    marks_.store(marks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (innermost_ != nullptr) [[unlikely]]
      notify_progress(innermost_);
  }
  void notify_progress(ProgressObserver* observer) noexcept;
  void notify_steps_done(ProgressObserver* observer) noexcept;
  static constexpr uint64_t pack(RunPosition p) noexcept {
    return uint64_t{p.frame} << 48 | uint64_t{p.partition} << 32 | p.step;
  }
  static constexpr RunPosition unpack(uint64_t packed) noexcept {
    return {static_cast<uint16_t>(packed >> 48), static_cast<uint16_t>(packed >> 32),
            static_cast<uint32_t>(packed)};
  }

  static constexpr SequenceId kNone = 0;

  SequenceId sequence_ = 1;  // anything but kNone, which stop_ holds while no stop is requested
  uint64_t number_ = 0;
  LaneId lane_ = 0;
  Team* team_ = nullptr;
  Deadline deadline_ = kNoDeadline;
  ProgressObserver* innermost_ = nullptr;  // innermost observer; see ObserverScope
  std::atomic<uint64_t> position_{0};
  std::atomic<uint64_t> marks_{0};
  std::atomic<SequenceId> stop_{kNone};  // the last request that was asked to stop
};

// Lets `observer` see the progress of a request for as long as this object lives, on the thread
// that runs the request. Scopes nest: every observer is called, that of the outermost scope first.
// An observer is in one scope at a time.
class ObserverScope {
 public:
  ObserverScope(RunControl& control, ProgressObserver& observer) noexcept : control_(control) {
    observer.outer_ = control.innermost_;
    control.innermost_ = &observer;
  }
  ~ObserverScope() { control_.innermost_ = control_.innermost_->outer_; }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  RunControl& control_;
};

// The same, but `observer` is called before those of all scopes that exist already: they do not see
// a piece of work before it has returned.
class OutermostObserverScope {
 public:
  OutermostObserverScope(RunControl& control, ProgressObserver& observer) noexcept
      : control_(control) {
    observer.outer_ = nullptr;
    outermost() = &observer;
  }
  ~OutermostObserverScope() {
    // Scopes that began later have ended, so this observer is the outermost one again.
    ProgressObserver** link = &control_.innermost_;
    while ((*link)->outer_ != nullptr) link = &(*link)->outer_;
    *link = nullptr;
  }
  OutermostObserverScope(const OutermostObserverScope&) = delete;
  OutermostObserverScope& operator=(const OutermostObserverScope&) = delete;

 private:
  // The place behind the outermost observer.
  ProgressObserver*& outermost() const noexcept {
    ProgressObserver** link = &control_.innermost_;
    while (*link != nullptr) link = &(*link)->outer_;
    return *link;
  }

  RunControl& control_;
};

}  // namespace millrace::queue
