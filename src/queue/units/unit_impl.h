// Unit::Impl: the implementation of Unit. Ring stores the requests in order; as a Source, the unit
// gets a thread from the lanes; ResultTable keeps failures; WaitList, FdNotifier, Room and the
// strand of callbacks notify callers; the monitor checks deadlines and progress. Lanes and monitor
// may hold a reference for a moment after the Unit was destroyed.
//
//   unit_submit.cpp    accepting requests: places, policies, running inline
//   unit_complete.cpp  running, completing and removing requests; closing the unit
//   unit_watch.cpp     the timers: deadlines and hung requests; degrading and resetting the unit
//   unit_wait.cpp      waiting for completions, event fds, cancelling
//   unit_help.cpp      running requests on a thread that waits for them
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "queue/callbacks/strand.h"
#include "queue/lanes/lanes_impl.h"
#include "queue/lanes/source.h"
#include "queue/requests/relaxed.h"
#include "queue/requests/result_table.h"
#include "queue/requests/ring.h"
#include "queue/units/deferred_callbacks.h"
#include "queue/units/run_times.h"
#include "queue/units/unit.h"
#include "queue/units/unit_ids.h"
#include "queue/waiting/fd_notifier.h"
#include "queue/waiting/monitor.h"
#include "queue/waiting/room.h"
#include "queue/waiting/spin.h"
#include "queue/waiting/visitors.h"
#include "queue/waiting/wait_list.h"

namespace millrace::queue {

// The content of a cell of the ring.
struct Request {
  std::unique_ptr<Task> task;
  PreparedCall callback;
  // Other threads read these two without owning the request.
  Relaxed<uint64_t> ticket;
  Relaxed<Deadline::rep> deadline;

  friend void swap(Request& a, Request& b) noexcept {
    a.task.swap(b.task);
    swap(a.callback, b.callback);
    std::swap(a.ticket, b.ticket);
    std::swap(a.deadline, b.deadline);
  }
};

inline Deadline deadline_of(const Request& request) noexcept {
  return Deadline(Deadline::duration(request.deadline.get()));
}

class Unit::Impl final : public Source, public Watched {
 public:
  Impl(std::shared_ptr<Lanes::Impl> lanes, std::unique_ptr<Lanes> own_lanes, UnitOptions options,
       UnitId id);

  Status make_tasks();
  // Reserves memory for the unit in the ready list of its lanes, until close(). Throws
  // std::bad_alloc.
  void attach();
  Status expect_waits();
  // See Unit::close. Afterwards only lanes and the monitor, for a moment, and handles that ask for
  // results hold this object.
  void close();
  void begin_close() noexcept;

  // Submitting. A claimed place must be published, or run inline.
  Result<SequenceId> claim(SubmitOptions& options, PreparedCall& callback, Patience patience,
                           Deadline limit);
  Result<SequenceId> claim_n(uint32_t& count, Deadline deadline);
  Task& task(uint64_t counter) noexcept { return *ring_.request(counter).task; }
  // For the owner of the unit, while no request runs.
  Task& idle_task() noexcept { return *running_->request.task; }
  void publish(uint64_t counter, PreparedCall&& callback, Deadline deadline) noexcept;
  void publish_n(uint64_t first, uint32_t count, Deadline deadline) noexcept;
  std::optional<InlineRun> begin_inline();
  Status run_inline(const InlineRun& run) noexcept;

  // Learning of completion.
  Status wait(SequenceId id, std::chrono::nanoseconds timeout);
  // Returns whether a thread that waits for `timeout` at most may call help().
  bool may_help(std::chrono::nanoseconds timeout) const noexcept;
  // See Unit::help. Requirements: may_help(), and a Visit of waiters() that ends before `kept` is
  // destroyed. A thread that helps gets a reference there, since the unit may be closed and
  // destroyed while a request hangs on this thread. Others do not touch the count of references,
  // which shares a cache line with the state that lanes write.
  template <class Done>
  void help(Deadline limit, std::shared_ptr<Source>& kept, Done&& done);
  Status notify_fd(SequenceId id, int fd, uint8_t slot);
  Status notify_each_fd(int fd);
  Status wait_free(uint32_t k, std::chrono::nanoseconds timeout);
  Status notify_free_fd(uint32_t k, int fd);
  bool is_completed(uint64_t counter) const noexcept { return ring_.is_completed(counter); }
  // Returns false if the request is completed; then the node was not added.
  bool add_waiter(WaitNode& node) {
    return waits_.add(node, [this](uint64_t counter) { return is_completed(counter); });
  }
  bool remove_waiter(WaitNode& node) { return waits_.remove(node); }
  // Threads that may wait are counted here: closing the unit waits for them.
  Visitors& waiters() noexcept { return inside_; }
  // Returns the strand, for coroutines that are resumed on it; null if the unit is closed or the
  // dispatcher has no thread for it.
  std::shared_ptr<Strand> strand_for_waiters();

  Result<CancelOutcome> cancel(SequenceId id, std::chrono::nanoseconds timeout);

  UnitState state() const noexcept { return state_.load(std::memory_order_seq_cst); }
  Status failure() const;
  uint32_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  Status reset();
  UnitStatistics statistics() const noexcept;
  // The times of the requests that were measured (UnitStatistics::mean_run).
  const RunTimes& run_times() const noexcept { return run_times_; }
  // From now on requests are measured whatever UnitOptions::caller_helps says.
  void measure_runs() noexcept { measured_.store(true, std::memory_order_relaxed); }
  // Returns whether the unit refuses requests because it closes or is closed.
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }

  const Ring<Request>& ring() const noexcept { return ring_; }
  uint16_t id() const noexcept { return id_.value(); }
  SequenceId sequence(uint64_t counter) const noexcept { return sequence_of(id(), counter); }
  bool issued(SequenceId sequence) const noexcept {
    return unit_of(sequence) == id() && counter_of(sequence) != 0 &&
           counter_of(sequence) <= ring_.issued();
  }
  Status unknown(SequenceId sequence) const;

  bool has_work() const noexcept override {
    // Once the unit refuses requests, it starts none of the queued ones either.
    return !closed_.load(std::memory_order_seq_cst) &&
           ring_.look(ring_.head()) != Ring<Request>::Look::kNothing;
  }
  uint64_t ticket() const noexcept override;
  bool run_one(LaneId lane) noexcept override;
  using Source::callers_may_run;
  bool callers_may_run(int64_t longest_ns) const noexcept override;
  bool may_be_left() const noexcept override;
  bool run_one_for_caller(LaneId lane) noexcept override;
  void on_time() noexcept override;

 private:
  // The running request. If it is given up, the thread that hangs in it keeps this object, and the
  // unit continues with a new one.
  struct alignas(64) Running {
    Request request;
    RunControl control;
    bool on_borrowed_lane = false;  // whether it runs on a caller's thread
  };

  // unit_submit.cpp
  Result<SequenceId> claim_by_policy(SubmitOptions& options, PreparedCall& callback,
                                     Patience patience, Deadline limit);
  Status prepare(SubmitOptions& options, PreparedCall& callback);
  Result<SequenceId> try_claim(uint32_t& count);
  Ring<Request>::Claim claim_in_order(uint64_t& counter, uint32_t& count);
  Result<SequenceId> prepare_and_enter(SubmitOptions& options, PreparedCall& callback,
                                       uint32_t& count);
  Result<SequenceId> try_enter();
  Result<SequenceId> claim_waiting(Deadline limit, const Status& otherwise);
  Result<SequenceId> claim_displacing(const SubmitOptions& options);
  Status displace(Deadline newcomer);
  uint64_t first_waiting() noexcept;
  bool drop_oldest();
  Status shed_one(Deadline newcomer);
  bool run_as_owner(const InlineRun& run) noexcept;
  void fill_in(Request& request, Deadline deadline) noexcept;
  void watch(Deadline deadline) noexcept;

  // unit_complete.cpp
  uint64_t take_head() noexcept;
  bool run_taken(uint64_t counter, LaneId lane) noexcept;
  bool run_unseen(uint64_t counter, LaneId lane) noexcept;
  bool run_started(uint64_t counter, Running& running, LaneId lane) noexcept;
  void refuse_without_lane(uint64_t counter) noexcept;
  Status refusal(const Request& request);
  Status run_timed(uint64_t counter, Running& running, std::chrono::nanoseconds& taken) noexcept;
  void note_run(std::chrono::nanoseconds taken) noexcept;
  void abandon(Running* running) noexcept;
  void complete(uint64_t counter, Request& request, Status status) noexcept;
  void publish_completion(uint64_t counter, Request& request, Status status) noexcept;
  void remove(uint64_t counter, Status status) noexcept;
  void record(const Completion& completion, bool started) noexcept;
  std::atomic<uint64_t>& count_of(StatusCode code) noexcept;
  void post_callback(Request& request, const Completion& completion) noexcept;
  void pass_head() noexcept;
  void pass_removed() noexcept;
  void notify(uint64_t first, uint64_t last) noexcept;
  void cell_vacated(uint64_t counter) noexcept;
  void take_from_lanes();
  std::chrono::nanoseconds close_patience() const noexcept;
  void wait_until_closed() noexcept;
  void stop_expecting_waits() noexcept;
  void cancel_queued();
  void drop_tasks();

  // unit_help.cpp
  bool measures_run(uint64_t counter) const noexcept;
  LaneId begin_help();
  bool help_with_next(LaneId lane) noexcept;
  void end_help(LaneId lane) noexcept;
  bool help_other_unit();

  // unit_watch.cpp
  std::unique_ptr<Running> make_running() noexcept;
  void call_at(Deadline when) noexcept;
  Deadline check_deadlines(Deadline now);
  Deadline check_progress(Deadline now);
  uint64_t stuck_request(Deadline now, std::chrono::nanoseconds patience);
  bool give_up(uint64_t counter, std::chrono::nanoseconds patience);
  Status report(const Running& hung, uint64_t counter, std::chrono::nanoseconds patience) noexcept;
  void log_close_waits(uint64_t counter, std::chrono::nanoseconds patience) noexcept;
  std::string name_of(uint64_t counter) const;
  static std::string where(const Running& running);
  void degrade(Status cause);
  void after_device_failure(const Status& status);

  // unit_wait.cpp
  bool wait_until_completed(uint64_t counter, Deadline deadline);
  Status poll(uint64_t counter);
  Status result(uint64_t counter);
  Status forgotten(SequenceId id);

  const UnitId id_;
  const UnitOptions options_;
  std::unique_ptr<Lanes> own_lanes_;  // null once closed
  const bool has_own_lanes_;
  bool attached_ = false;
  bool expects_waits_ = false;  // guarded by watch_mutex_
  const std::shared_ptr<Lanes::Impl> lanes_;
  std::shared_ptr<Strand> strand_;    // runs the unit's callbacks; null once closed
  std::shared_ptr<Monitor> monitor_;  // null once closed
  // Statuses that are created once and shared, so that refusing or polling a request allocates
  // nothing, and a removed request takes no memory beyond its entry in the result table.
  const Status full_;
  const Status pending_;
  const Status dropped_;
  const Status shed_;
  const Status no_lane_;
  const Status closed_status_;

  Ring<Request> ring_;
  std::unique_ptr<Running> running_;  // used by the owner; replaced under watch_mutex_
  ResultTable results_;
  DeferredCallbacks deferred_;
  WaitList<> waits_;
  FdNotifier fds_;
  Room room_;

  // Read with every request, rarely written.
  std::atomic<bool> closed_{false};   // begin_close was called: nothing is accepted or started
  std::atomic<bool> closing_{false};  // close has begun
  std::atomic<bool> ended_{false};    // close is done
  std::atomic<UnitState> state_{UnitState::kHealthy};
  std::atomic<uint32_t> generation_{0};
  std::atomic<bool> watching_{false};  // whether the watchdog has a timer
  std::atomic<bool> old_results_logged_{false};
  // The earliest time at which the monitor was asked to call on_time().
  std::atomic<Deadline::rep> called_at_{kNoDeadline.time_since_epoch().count()};
  // Every request before this one has started or was removed: searches begin here.
  std::atomic<uint64_t> first_waiting_{1};
  // Whether threads that wait may run requests. Never set again once it is false.
  std::atomic<bool> callers_help_;
  std::atomic<bool> measured_{false};  // see measure_runs()
  // Moving average of the time of a run, for WhenFull::kShedByDeadline and CallerHelps::kAuto.
  // Written by the owner.
  alignas(64) std::atomic<int64_t> mean_run_ns_{0};

  // Written by submitters.
  alignas(64) Visitors submitters_;  // threads between claim and publish that do not own the unit

  // Written by waiting threads.
  alignas(64) Visitors inside_;  // threads that may wait, or that remove a request
  AdaptiveSpin spin_;

  // The numbers of statistics() that are not read from the ring. Relaxed: they publish nothing.
  struct alignas(64) Counts {
    std::atomic<uint64_t> refused{0}, cancelled{0}, dropped{0}, late{0}, failed{0};
  };
  Counts counts_;
  RunTimes run_times_;  // written by the owner
  // The largest number of successes that statistics() has returned.
  mutable std::atomic<uint64_t> succeeded_{0};

  alignas(64) mutable std::mutex failure_mutex_;
  Status failure_;
  // Held to give a request up, and to use running_ without owning the unit.
  std::mutex watch_mutex_;
  // The running request and its progress, and when that was first seen. Under watch_mutex_.
  struct {
    uint64_t counter = 0;
    uint64_t marks = 0;
    Deadline since;
  } seen_;
  Deadline closed_at_;  // under watch_mutex_
};

template <class Done>
void Unit::Impl::help(Deadline limit, std::shared_ptr<Source>& kept, Done&& done) {
  const auto ends = [&] {
    return done() || (limit != kNoDeadline && std::chrono::steady_clock::now() >= limit);
  };
  LaneId lane = begin_help();
  if (lane == kNoLane && !lanes_->has_ready()) return lanes_->want_lane();
  kept = shared_from_this();
  while (lane == kNoLane && !ends() && help_other_unit()) lane = begin_help();
  if (lane == kNoLane) return ends() ? void() : lanes_->want_lane();
  while (!ends())
    if (!help_with_next(lane)) return;
  end_help(lane);
}

}  // namespace millrace::queue
