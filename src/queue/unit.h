// Unit: an execution unit. Order, not a thread: a bounded FIFO that runs one request at a time on
// the lanes it is attached to.
//
//   submit -> [slot taken, sequence id] -> ready -> running on a lane -> completed
//
// Completion is published at one point, in this order: the outputs' bytes; the request's status in
// the result table; counters; the sequence (release); then waiters and the callback; then the
// slot's references are dropped. Whoever sees a sequence as completed sees everything before it. A
// wait that returns says nothing about the callback of the same request: it may run before, during
// or after.
//
// All functions may be called from any thread, also from callbacks, except where stated.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "queue/lanes.h"
#include "queue/request.h"

namespace millrace::queue {

// Called on the lane at completion (on the destroying thread for requests that ~Unit cancels),
// after the sequence was published and before waiters are woken: for the owner of several units
// (admission counters). Must be quick, and must not block or throw.
using CompletionListener = std::function<void(const Completion&)>;

// Called depth + 1 times while the unit is made.
using TaskFactory = std::function<std::unique_ptr<Task>()>;

struct UnitOptions {
  std::string name;    // for messages and logs
  uint32_t depth = 2;  // requests accepted and not completed, 1 to 65,536
  TaskFactory make_task;
  CompletionListener on_complete;  // may be empty
  // How long wait looks for the completion before it sleeps. Zero sleeps at once. Longer saves the
  // wake-up (tens of microseconds on virtual machines) at the price of a busy core.
  std::chrono::microseconds wait_spin{20};
};

class Unit {
 public:
  static constexpr uint32_t kMaxDepth = 65'536;

  // kInvalidArgument for a depth outside its range, no factory, or a factory that gives no task;
  // kUnavailable when the lanes have no thread; kQueueFull when all 65,535 unit ids of the process
  // are taken; kOutOfMemory.
  static Result<std::unique_ptr<Unit>> create(Lanes& lanes, UnitOptions options);

  // Requests that have not started complete with kCancelled; waits for the running one; wakes every
  // waiter; delivers the remaining callbacks (destroyed on the dispatcher thread, by a callback of
  // somebody else, they run afterwards). Other threads may be on their way out of submit and wait.
  // Not from a callback or task of this unit.
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // Takes a slot, calls `fill` (must not block; throwing ends the program, since a slot that is
  // taken cannot be given back) with the slot's task on this thread, and makes the request ready.
  // Never waits for the device. kQueueFull when `depth` requests are not completed, kUnavailable
  // when the unit is being destroyed or the thread for callbacks cannot be started; then nothing
  // has changed, `fill` was not called and no id was used.
  template <class Fill>
  Result<SequenceId> submit(Fill&& fill, Callback callback = {}) {
    Task* task = nullptr;
    Result<SequenceId> id = claim(task, static_cast<bool>(callback));
    if (!id.ok()) return id;
    [&]() noexcept { fill(*task); }();
    publish(*id, std::move(callback));
    return id;
  }

  // The request's status once completed; kPending when `timeout` passed first (zero polls, negative
  // counts as zero); kUnknownJob for an id never issued by this unit or older than the result table
  // (the last 65,536 completed requests). Any number of threads may wait for the same id, any
  // number of times.
  Status wait(SequenceId id, std::chrono::nanoseconds timeout);

  // Whether the request is completed; false for an id never issued.
  bool is_completed(SequenceId id) const noexcept;
  // Highest completed and highest issued id; counter 0 while there is none.
  SequenceId last_completed() const noexcept;
  SequenceId last_submitted() const noexcept;
  // Requests accepted and not completed.
  uint32_t in_flight() const noexcept;
  uint32_t depth() const noexcept;
  uint16_t id() const noexcept;

  class Impl;

 private:
  explicit Unit(std::shared_ptr<Impl> impl) noexcept;
  Result<SequenceId> claim(Task*& task, bool with_callback);
  void publish(SequenceId id, Callback callback) noexcept;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::queue
