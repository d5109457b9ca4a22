// Unit: an execution unit. Order, not a thread: a bounded FIFO that runs one request at a time on
// the lanes it is attached to (or on a thread of its own, for requests that may block on something
// else).
//
//   submit -> [place claimed, sequence id] -> queued -> running on a lane -> completed
//                                               |                             ^
//                                               +-- removed: cancelled, ------+
//                                                   deadline, dropped
//
// Completion is published at one point, in this order: the outputs' bytes; the caller-visible
// status (Task::write_status) and the result table; counters; the sequence (release); then
// Task::on_published, the callback is posted, waiters and event fds are notified; then the task's
// references are dropped. A thread that sees a request as completed sees everything before it. A
// request completes exactly once.
//
// Requests complete in the order of their ids, except that a removed one completes at once,
// wherever it stands; it frees its place at that moment. last_completed() counts without gaps, so
// it passes a removed request when those before it are done.
//
// Five ways to learn of completion, all fed by that one point:
//   wait       the request's status, once it is completed; with a timeout; any number of threads,
//              any number of times, as long as the result is kept (the last 65,536 requests).
//              wait_any and wait_all (wait_set.h) take requests of several units.
//   poll       is_completed and last_completed: two atomic loads.
//   callback   once, on a dispatcher thread, also for a request that failed; those of a unit one at
//              a time.
//   event fd   notify_fd for one request, notify_each_fd for every one of a unit.
//   awaitable  co_await completion_of(unit, id) (awaitable.h): continues there, too.
// A wait that returns, or a poll that says completed, says nothing about the callback of the same
// request: it may run before, during or after.
//
// Thread-safe; all functions may be called from callbacks, too, except where stated. None is a
// cancellation point. In a forked child (base/process/forked_child.h) those that may wait or that
// change the unit return kForked, and destroying it does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "queue/lanes/lanes.h"
#include "queue/requests/acceptance_order.h"
#include "queue/requests/request.h"

namespace millrace::queue {

// Called more often than there are places while the unit is made, and once per request that hung.
using TaskFactory = std::function<std::unique_ptr<Task>()>;

// The options of the native API, whose jobs are requests here, and what the library alone decides.
struct UnitOptions : millrace::UnitOptions {
  TaskFactory make_task;
  // Requests may block on something else (transfers, other machines): they run on a thread of the
  // unit's own, started on first use, and never take a lane.
  bool own_thread = false;
  const char* thread_name = "millrace-unit";  // its name: static, at most 15 characters
  // The unit's number in the sequence ids that its users see, for messages. None: its id.
  std::optional<uint16_t> shown_number{};
  // Gives every accepted request its number (RunControl::number). None: they have no numbers.
  std::shared_ptr<AcceptanceOrder> acceptance_order{};
};

struct SubmitOptions {
  Callback callback;  // may be empty
  // Enforced while the request is queued, and between two pieces of its work: it completes with
  // kDeadlineExceeded. A request that has finished its work has succeeded, however late.
  Deadline deadline = kNoDeadline;
};

// The requests that one try_submit_n accepted: ids first to first + count - 1.
struct SubmittedRange {
  SequenceId first = 0;
  uint32_t count = 0;
};

class Unit {
 public:
  static constexpr uint32_t kMaxDepth = 65'536;

  // kInvalidArgument for a depth outside its range, no factory, or a factory that gives no task;
  // kResourceExhausted when all 65,535 unit ids of the process are taken, or the system refuses
  // every thread for the lanes; kNoLane when no lane is left; kOutOfMemory. A unit with a thread of
  // its own does not use `lanes`.
  static Result<std::unique_ptr<Unit>> create(Lanes& lanes, UnitOptions options);

  // close(). No thread may be inside another function of the unit, except on its way out of submit
  // and wait. May be called from a callback, also of this unit; not from a task.
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // Ends the unit; a second call waits for the first (except in a callback: there it returns).
  // Requests that have not started complete with kCancelled; waits for the running one, giving it
  // up when it makes no progress (UnitOptions), and logs a line when that takes long; wakes every
  // waiter; delivers the remaining callbacks (from a dispatcher thread they run afterwards).
  // Results stay known; whatever needs the unit says kClosed.
  void close();
  // The first step of close(), which has to follow: from here on requests are refused with kClosed,
  // and none starts. Returns at once. Owners of several units call it for all of them first, so
  // that the running requests of all have the same time to end.
  void begin_close() noexcept;

  // Declares that its requests may wait for requests of other units of the same lanes that have
  // also called this, such as those of several ranks in one process. Until the unit is closed there
  // is a lane for each of these units, so that none waits for one that cannot run. Further calls do
  // nothing. kResourceExhausted when there can be no further lane, kClosed.
  Status expect_waits();

  // Claims a place, calls `fill` (must not wait for a request; throwing ends the program, since a
  // claimed place cannot be returned) with a task on this thread, and makes the request ready. When
  // `depth` requests are not completed, does what the unit's policy says. Never waits for the
  // device, except with WhenFull::kBlock.
  //   kQueueFull          no place, or 65,536 removed requests behind one that does not end
  //   kDeadlineExceeded   the request's deadline passed before there was a place; or, with
  //                       WhenFull::kShedByDeadline, it was not expected to be in time
  //   kUnitDegraded       with the cause
  //   kClosed             the unit is closed
  //   kResourceExhausted  the system refuses the thread for callbacks or for deadlines
  //   kOutOfMemory        no memory for the callback or for one of these threads
  // In all of these cases nothing has changed, `fill` was not called and no id was used.
  template <class Fill>
  Result<SequenceId> submit(Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kPolicy, kNoDeadline, fill, options);
  }
  // The same, but never waits for a place and never makes one: kQueueFull.
  template <class Fill>
  Result<SequenceId> try_submit(Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kNone, kNoDeadline, fill, options);
  }
  // The same, waiting for a place until `limit`: then kQueueFull.
  template <class Fill>
  Result<SequenceId> submit_until(Deadline limit, Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kUntilLimit, limit, fill, options);
  }
  // Submits up to `count` requests at once, as many as there are places; `fill(task, index)` for
  // each. kQueueFull when there is none. One wake-up for all of them; no callbacks.
  template <class Fill>
  Result<SubmittedRange> try_submit_n(uint32_t count, Fill&& fill,
                                      Deadline deadline = kNoDeadline) {
    Result<SubmittedRange> range = claim_n(count, deadline);
    if (!range.ok()) return range;
    for (uint32_t i = 0; i < range->count; ++i)
      [&]() noexcept { fill(task(range->first + i), i); }();
    publish_n(*range, deadline);
    return range;
  }

  // submit (waiting for a place) and wait in one call. If the unit is idle and a lane is free, the
  // calling thread borrows that lane and runs the request itself, in the order of the unit: there
  // is no hand-off and no wake-up. A unit with a watchdog or a thread of its own never does that.
  template <class Fill>
  Status execute(Fill&& fill) {
    return execute_claiming(Patience::kUntilLimit, fill, fill);
  }
  // The same, but a request that the calling thread runs itself is filled by `lend`: what that
  // hands to the task need not live longer than this call.
  template <class Fill, class Lend>
  Status execute(Fill&& fill, Lend&& lend) {
    return execute_claiming(Patience::kUntilLimit, fill, lend);
  }
  // The same, but never waits for a place: kQueueFull.
  template <class Fill, class Lend>
  Status try_execute(Fill&& fill, Lend&& lend) {
    return execute_claiming(Patience::kNone, fill, lend);
  }

  // The request's status once completed; kPending when `timeout` passed first (zero polls, negative
  // counts as zero); kInvalidJobId for an id never issued by this unit or older than the results
  // that are kept, of which there are fewer while there is no memory for more.
  Status wait(SequenceId id, std::chrono::nanoseconds timeout);

  // Whether the request is completed; false for an id never issued.
  bool is_completed(SequenceId id) const noexcept;
  // The highest id up to which all are completed, and the highest issued; counter 0 while there is
  // none.
  SequenceId last_completed() const noexcept;
  SequenceId last_submitted() const noexcept;

  // Asks for the end of a request and waits up to `timeout` for what becomes of it; kPending when
  // it runs and has not come to a boundary by then (it will still stop there). kInvalidJobId as in
  // wait. A request that waits in the queue is removed at once.
  Result<CancelOutcome> cancel(SequenceId id, std::chrono::nanoseconds timeout);

  // Adds 1 to the eventfd `fd` once when the request completes; at once if it has. A request has
  // slots, for parts of a program that register independently; in each, a later registration
  // replaces an earlier one, and a negative fd removes it (no error when there is none). The fd is
  // duplicated: the caller may close its own at any time. kInvalidJobId for an id never issued,
  // kInvalidArgument for an fd that cannot be duplicated.
  Status notify_fd(SequenceId id, int fd, uint8_t slot = 0);
  // Adds 1 to `fd` at every completion from now on, after the sequence is visible; one slot per
  // unit, negative removes. Completions may be merged, and a removed request may count twice (it
  // is passed by last_completed later): ask again what is completed.
  Status notify_each_fd(int fd);

  // "k places are free": waits for it; kDeadlineExceeded when `timeout` passed first,
  // kInvalidArgument when k exceeds the depth, kClosed when the unit closes. Another thread may
  // take the places before the caller does.
  Status wait_free(uint32_t k, std::chrono::nanoseconds timeout);
  // Adds 1 to `fd` now if k places are free, and at every completion after which k are; one slot
  // per unit, negative removes.
  Status notify_free_fd(uint32_t k, int fd);

  // Requests accepted and not completed.
  uint32_t in_flight() const noexcept;
  // Whether a request would find a place. Sequentially consistent: of a thread that announces that
  // it waits and then asks here, and one that completes a request and then looks for those that
  // wait, at least one sees the other.
  bool has_room() const noexcept;
  uint32_t depth() const noexcept;
  uint16_t id() const noexcept;

  UnitState state() const noexcept;
  // Why the unit is degraded; OK when it is not.
  Status failure() const;
  // Grows with every reset, automatic or not.
  uint32_t generation() const noexcept;
  // Puts a degraded unit back into service; nothing otherwise. kNoLane when the device has no lane
  // left to run on, kClosed when the unit is closed.
  Status reset();

  class Impl;
  Impl& impl() noexcept { return *impl_; }  // for wait_set and awaitable

 private:
  enum class Patience : uint8_t { kNone, kPolicy, kUntilLimit };
  struct InlineRun {
    SequenceId id;
    LaneId lane;
    bool is_first;  // in line: it runs in the idle task, which stays in the caches
  };

  explicit Unit(std::shared_ptr<Impl> impl) noexcept;
  static Status check(const UnitOptions& options);
  template <class Fill>
  Result<SequenceId> submit_with(Patience patience, Deadline limit, Fill& fill,
                                 SubmitOptions& options) {
    PreparedCall callback;
    Result<SequenceId> id = claim(options, callback, patience, limit);
    if (!id.ok()) return id;
    [&]() noexcept { fill(task(*id)); }();
    publish(*id, std::move(callback), options.deadline);
    return id;
  }
  template <class Fill, class Lend>
  Status execute_claiming(Patience patience, Fill& fill, Lend& lend) {
    if (const std::optional<InlineRun> run = begin_inline()) {
      [&]() noexcept { run->is_first ? lend(idle_task()) : fill(task(run->id)); }();
      return run_inline(*run);
    }
    SubmitOptions options;
    const Result<SequenceId> id = submit_with(patience, kNoDeadline, fill, options);
    return id.ok() ? wait(*id, std::chrono::nanoseconds::max()) : id.status();
  }
  // Makes `callback` of that in the options.
  Result<SequenceId> claim(SubmitOptions& options, PreparedCall& callback, Patience patience,
                           Deadline limit);
  Result<SubmittedRange> claim_n(uint32_t count, Deadline deadline);
  Task& task(SequenceId id) noexcept;
  Task& idle_task() noexcept;
  void publish(SequenceId id, PreparedCall&& callback, Deadline deadline) noexcept;
  void publish_n(const SubmittedRange& range, Deadline deadline) noexcept;
  std::optional<InlineRun> begin_inline();
  Status run_inline(const InlineRun& run) noexcept;

  const std::shared_ptr<Impl> impl_;
};

}  // namespace millrace::queue
