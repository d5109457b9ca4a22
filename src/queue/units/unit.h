// Unit: an execution unit, which is a bounded FIFO queue that runs one request at a time. It has no
// thread: its requests run on the lanes it is attached to (or on a thread of its own, if they may
// block on something other than computing).
//
//   submit -> [place claimed, sequence id] -> queued -> running on a lane -> completed
//                                               |                             ^
//                                               +-- removed: cancelled, ------+
//                                                   deadline, dropped
//
// A completion is published at one point, in this order: the outputs' bytes; the caller-visible
// status (Task::write_status) and the result table; counters; the sequence (release); then
// Task::on_published, the callback is posted, waiters and event fds are notified; then the task's
// references are dropped. A thread that sees a request as completed sees everything before it. A
// request completes exactly once.
//
// Requests complete in the order of their ids, except that a removed one completes at once,
// wherever it is in the queue, and frees its place at that moment. last_completed() counts without
// gaps, so it passes a removed request when those before it are done.
//
// There are five ways to learn of a completion, which all follow from that publication:
//   wait       returns the request's status once it is completed, or after a timeout. Any number of
//              threads may call it any number of times, as long as the result is kept (for the last
//              65,536 requests). wait_any and wait_all (wait_set.h) take requests of several units.
//   poll       is_completed and last_completed, which cost a few atomic loads.
//   callback   is called once, on a dispatcher thread, also for a request that failed. The
//              callbacks of a unit run one at a time.
//   event fd   notify_fd for one request, notify_each_fd for every request of the unit.
//   awaitable  co_await completion_of(unit, id) (awaitable.h) resumes on a dispatcher thread.
// When a wait returns, or a poll reports the completion, the callback of the same request may have
// run, be running, or run later.
//
// Thread-safe; all functions may be called from callbacks, too, except where stated. None is a
// cancellation point. In a forked child (base/process/forked_child.h) functions that may wait or
// that change the unit return kForked, and the destructor does nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "millrace/statistics.hpp"
#include "queue/lanes/lanes.h"
#include "queue/requests/acceptance_order.h"
#include "queue/requests/request.h"

namespace millrace::queue {

// Makes an empty task. Called more often than `depth` times while the unit is created, and once for
// each request that is given up.
using TaskFactory = std::function<std::unique_ptr<Task>()>;

// The options of the native API, whose jobs are requests here, and further ones for internal use.
struct UnitOptions : millrace::UnitOptions {
  TaskFactory make_task;
  // Requests may block on something other than computing (transfers, other machines). They run on a
  // thread of the unit's own, which is started on first use, and never occupy a lane.
  bool own_thread = false;
  const char* thread_name = "millrace-unit";  // name of that thread: static, at most 15 characters
  // The unit's number in the sequence ids that its users see, for messages. The default is its id.
  std::optional<uint16_t> shown_number{};
  // Numbers every accepted request (RunControl::number). With null, requests have no numbers.
  std::shared_ptr<AcceptanceOrder> acceptance_order{};
};

struct SubmitOptions {
  Callback callback;  // may be empty
  // Checked while the request is queued and between two pieces of its work; once it has passed, the
  // request completes with kDeadlineExceeded. A request that has finished its work succeeds,
  // however late.
  Deadline deadline = kNoDeadline;
};

// The requests that one call of try_submit_n accepted: ids first to first + count - 1.
struct SubmittedRange {
  SequenceId first = 0;
  uint32_t count = 0;
};

class Unit {
 public:
  static constexpr uint32_t kMaxDepth = 65'536;

  // Creates a unit on `lanes`, which must outlive it. A unit with a thread of its own does not use
  // them. Fails with
  //   kInvalidArgument    the depth is not in 1 to kMaxDepth, there is no factory, or it makes no
  //                       task
  //   kResourceExhausted  all 65,535 unit ids of the process are taken, or the system refuses every
  //                       thread for the lanes
  //   kNoLane             no lane is left
  //   kOutOfMemory        there is not enough memory for the unit and its tasks
  static Result<std::unique_ptr<Unit>> create(Lanes& lanes, UnitOptions options);

  // Closes the unit. No thread may be inside another function of the unit, except that one may be
  // about to return from submit or wait. May be called from a callback, also of this unit, but not
  // from a task.
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // Ends the unit. Requests that have not started complete with kCancelled. Waits for the running
  // one, and gives it up if it makes no progress (UnitOptions); logs a line if that takes long.
  // Wakes every waiter, and waits for the remaining callbacks (called on a dispatcher thread, it
  // lets them run afterwards). Results are still kept; functions that need the unit return kClosed.
  // A second call waits for the first, except in a callback of the unit, where it returns at once.
  void close();
  // The first step of close(), which has to follow: from here on requests are refused with kClosed,
  // and none starts. Returns at once. Owners of several units call it for all of them first, so
  // that the running requests of all have the same time to end.
  void begin_close() noexcept;

  // Declares that requests of this unit may wait for requests of other units of the same lanes that
  // have also called this, such as those of several ranks in one process. Until the unit is closed
  // there is a lane for each of these units, so that no request waits for one that cannot run.
  // Further calls do nothing. Fails with kResourceExhausted when no further lane is possible, or
  // with kClosed.
  Status expect_waits();

  // Submits a request: claims a place, calls `fill` with a task on this thread, and makes the
  // request ready. `fill` must not wait for a request. An exception that it throws terminates the
  // process, since a claimed place cannot be returned. When `depth` requests are not completed, the
  // unit's policy decides. Never waits for the device, except with WhenFull::kBlock. Fails with
  //   kQueueFull          there is no place, or there are 65,536 removed requests after one that
  //                       does not end
  //   kDeadlineExceeded   the request's deadline passed before there was a place; or, with
  //                       WhenFull::kShedByDeadline, it was not expected to be in time
  //   kUnitDegraded       the unit is degraded; the message has the cause
  //   kClosed             the unit is closed
  //   kResourceExhausted  the system refuses the thread for callbacks or for deadlines
  //   kOutOfMemory        there is no memory for the callback or for one of these threads
  // In all of these cases nothing has changed, `fill` was not called and no id was used.
  template <class Fill>
  Result<SequenceId> submit(Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kPolicy, kNoDeadline, fill, options);
  }
  // Like submit(), but when the unit is full it fails with kQueueFull, whatever the policy.
  template <class Fill>
  Result<SequenceId> try_submit(Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kNone, kNoDeadline, fill, options);
  }
  // Like submit(), but waits for a place until `limit`, then fails with kQueueFull.
  template <class Fill>
  Result<SequenceId> submit_until(Deadline limit, Fill&& fill, SubmitOptions options = {}) {
    return submit_with(Patience::kUntilLimit, limit, fill, options);
  }
  // Submits up to `count` requests at once, as many as there are places, and calls
  // `fill(task, index)` for each. kQueueFull if there is no place. Costs one wake-up for all of
  // them; there are no callbacks.
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

  // Submits a request (waiting for a place) and waits for its status. If the unit is idle and a
  // lane sleeps, the calling thread borrows that lane and runs the request itself, in the order of
  // the unit, which saves a hand-off and a wake-up. A unit with a watchdog or a thread of its own
  // never does that.
  template <class Fill>
  Status execute(Fill&& fill) {
    return execute_claiming(Patience::kUntilLimit, fill, fill);
  }
  // Like execute(fill), but if the calling thread runs the request itself, `lend` fills the task.
  // The objects that it passes to the task need not outlive this call.
  template <class Fill, class Lend>
  Status execute(Fill&& fill, Lend&& lend) {
    return execute_claiming(Patience::kUntilLimit, fill, lend);
  }
  // Like execute(fill, lend), but never waits for a place: fails with kQueueFull if there is none.
  template <class Fill, class Lend>
  Status try_execute(Fill&& fill, Lend&& lend) {
    return execute_claiming(Patience::kNone, fill, lend);
  }
  // Returns whether UnitOptions::caller_helps allows that callers run requests, and the requests
  // that were measured took no longer than `longest` on average.
  bool callers_may_run(std::chrono::nanoseconds longest) const noexcept;
  // Runs a request on the calling thread as execute() does, and returns its status, if
  // callers_may_run(longest), the unit is idle, and a lane sleeps. Otherwise returns nothing, and
  // has done nothing.
  template <class Fill, class Lend>
  std::optional<Status> execute_here(std::chrono::nanoseconds longest, Fill&& fill, Lend&& lend) {
    if (!callers_may_run(longest)) return std::nullopt;
    const std::optional<InlineRun> run = begin_inline();
    if (!run) return std::nullopt;
    return fill_and_run(*run, fill, lend);
  }

  // Waits for the completion and returns the request's status; kPending if `timeout` passed first
  // (zero or less polls); kInvalidJobId for an id that this unit never issued, or whose result is
  // no longer kept. Fewer results are kept if there is no memory for more.
  Status wait(SequenceId id, std::chrono::nanoseconds timeout);

  // Called by a thread that is about to wait, at most for `timeout`, until a request of this unit
  // sets `done`. Runs the unit's requests on this thread until then, as long as no lane has begun
  // them and UnitOptions::caller_helps allows it. wait() does that by itself.
  void help(const std::atomic<bool>& done, std::chrono::nanoseconds timeout);

  // Returns whether the request is completed; false for an id that was never issued.
  bool is_completed(SequenceId id) const noexcept;
  // Return the highest id up to which all requests are completed, and the highest id issued. The
  // counter in it is 0 if there is none.
  SequenceId last_completed() const noexcept;
  SequenceId last_submitted() const noexcept;

  // Cancels a request and waits up to `timeout` for the outcome. A request that waits in the queue
  // is removed at once. A running one stops before its next piece of work; returns kPending if it
  // has not stopped in time (it still will). kInvalidJobId as in wait.
  Result<CancelOutcome> cancel(SequenceId id, std::chrono::nanoseconds timeout);

  // Adds 1 to the eventfd `fd` once when the request completes; at once if it has. A request has
  // slots, for parts of a program that register independently; in each, a later registration
  // replaces an earlier one, and a negative fd removes it (without an error if there is none). The
  // fd is duplicated: the caller may close its own at any time. kInvalidJobId for an id that was
  // never issued, kInvalidArgument for an fd that cannot be duplicated.
  Status notify_fd(SequenceId id, int fd, uint8_t slot = 0);
  // Adds 1 to `fd` at every completion from now on, after the sequence is visible. There is one
  // slot per unit; a negative fd removes it. Completions may be merged, and a removed request may
  // count twice, since last_completed() passes it later; so a reader has to check what is
  // completed.
  Status notify_each_fd(int fd);

  // Waits until k places are free. kDeadlineExceeded if `timeout` passed first, kInvalidArgument if
  // k exceeds the depth, kClosed if the unit closes. Another thread may take the places before the
  // caller does.
  Status wait_free(uint32_t k, std::chrono::nanoseconds timeout);
  // Adds 1 to `fd` now if k places are free, and at every completion after which k are free. There
  // is one slot per unit; a negative fd removes it.
  Status notify_free_fd(uint32_t k, int fd);

  // Returns the number of requests that are accepted and not completed.
  uint32_t in_flight() const noexcept;
  // Returns whether a request would find a place. Sequentially consistent: if one thread announces
  // that it waits and then calls this, and another completes a request and then looks for waiting
  // threads, at least one of the two sees the other.
  bool has_room() const noexcept;
  uint32_t depth() const noexcept;
  uint16_t id() const noexcept;

  UnitState state() const noexcept;
  // Returns why the unit is degraded; OK if it is not.
  Status failure() const;
  // Returns the number of resets, automatic or not.
  uint32_t generation() const noexcept;
  UnitStatistics statistics() const noexcept;
  // Puts a degraded unit back into service; does nothing otherwise. kNoLane if the device has no
  // lane left to run on, kClosed if the unit is closed.
  Status reset();

  class Impl;
  Impl& impl() noexcept { return *impl_; }  // for wait_set and awaitable

 private:
  enum class Patience : uint8_t { kNone, kPolicy, kUntilLimit };
  struct InlineRun {
    SequenceId id;
    LaneId lane;
    bool is_first;  // no request is before it: it runs in the idle task, which stays in the caches
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
  Status fill_and_run(const InlineRun& run, Fill& fill, Lend& lend) {
    [&]() noexcept { run.is_first ? lend(idle_task()) : fill(task(run.id)); }();
    return run_inline(run);
  }
  template <class Fill, class Lend>
  Status execute_claiming(Patience patience, Fill& fill, Lend& lend) {
    if (const std::optional<InlineRun> run = begin_inline()) return fill_and_run(*run, fill, lend);
    SubmitOptions options;
    const Result<SequenceId> id = submit_with(patience, kNoDeadline, fill, options);
    return id.ok() ? wait(*id, std::chrono::nanoseconds::max()) : id.status();
  }
  // Claims a place. Moves the callback of the options to `callback`.
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
