// RunControl: what a running request and its observers know of each other. The request reports its
// progress and asks, between two pieces of work, whether to go on; a watchdog reads the progress;
// cancellations and deadlines request a stop.
//
// Only the thread that runs the request writes it, except for the request to stop. Reading is
// thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/requests/ids.h"

namespace millrace::queue {

// A point of a request's work: a frame of the job, a partition of the model, an operator (step) of
// the partition.
struct RunPosition {
  uint16_t frame = 0;
  uint16_t partition = 0;
  uint32_t step = 0;
};

enum class StopCause : uint8_t { kNone, kCancelled, kDeadline };

// The status of a request that stopped for this cause after it had started, and of one that was
// removed before. Each is made once, since a unit keeps the statuses of many requests.
const Status& stopped_status(StopCause cause);
const Status& removed_status(StopCause cause);

class RunControl;
class Team;

// Sees every piece of work begin, on the thread that runs the request. It may block there, as long
// as it returns when control.stop_requested().
class ProgressObserver {
 public:
  ProgressObserver() = default;
  ProgressObserver(const ProgressObserver&) = delete;
  ProgressObserver& operator=(const ProgressObserver&) = delete;

  virtual void on_progress(const RunControl& control) noexcept = 0;
  // The steps of a frame are done: the work that follows belongs to no step.
  virtual void on_steps_done(const RunControl&) noexcept {}

 protected:
  ~ProgressObserver() = default;

 private:
  friend class ObserverScope;
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

  // The idle lanes that may take part in this request (queue/lanes/team.h), which leads them as
  // lane(); null when it is to keep to its own thread.
  Team* team() const noexcept { return team_; }

  // Call where a piece of work begins: a frame of the job, a partition of the frame (with the
  // number of its first step), a step (an operator) of the partition. Two relaxed stores: a
  // watchdog needs no more than to see within its patience that something has changed.
  void begin_frame(uint32_t frame) noexcept { at({static_cast<uint16_t>(frame), 0, 0}); }
  void begin_partition(uint32_t partition, uint32_t first_step = 0) noexcept {
    at({position().frame, static_cast<uint16_t>(partition), first_step});
  }
  void begin_step(uint32_t step) noexcept { at({position().frame, position().partition, step}); }
  RunPosition position() const noexcept {
    return unpack(position_.load(std::memory_order_relaxed));
  }
  // Grows with every piece of work begun.
  uint64_t marks() const noexcept { return marks_.load(std::memory_order_relaxed); }

  // Whether there is an observer, for the running thread.
  bool is_observed() const noexcept { return innermost_ != nullptr; }
  // Call where the steps of a frame are done, on the running thread.
  void end_steps() noexcept {
    if (innermost_ != nullptr) [[unlikely]]
      notify_steps_done(innermost_);
  }

  // Whether the request should end at the next boundary between two pieces of work, with
  // stop_status(): it was cancelled, or its deadline has passed. One relaxed load, and a look at
  // the clock where there is a deadline. For the running thread.
  bool stop_requested() const noexcept { return stop_cause() != StopCause::kNone; }
  StopCause stop_cause() const noexcept {
    if (stop_.load(std::memory_order_relaxed) == sequence_) return StopCause::kCancelled;
    if (deadline_ != kNoDeadline && std::chrono::steady_clock::now() >= deadline_)
      return StopCause::kDeadline;
    return StopCause::kNone;
  }
  const Status& stop_status() const { return stopped_status(stop_cause()); }

  // For the unit: the running thread before each request.
  void begin(SequenceId sequence, LaneId lane, Deadline deadline, uint64_t number = 0) noexcept {
    sequence_ = sequence;
    number_ = number;
    lane_ = lane;
    deadline_ = deadline;
    at({});
  }
  // For the unit, before the first request; and for a request that is to keep to its own thread,
  // with null, before its work.
  void set_team(Team* team) noexcept { team_ = team; }
  // For the unit. Thread-safe. Asks this request, and none that runs later, to stop.
  void request_stop(SequenceId sequence) noexcept {
    uint64_t before = stop_.load(std::memory_order_relaxed);
    while (before < sequence &&
           !stop_.compare_exchange_weak(before, sequence, std::memory_order_relaxed)) {
    }
  }

 private:
  friend class ObserverScope;

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

  SequenceId sequence_ = 1;  // anything but kNone
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

}  // namespace millrace::queue
