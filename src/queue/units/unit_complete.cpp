// How a request ends: it runs and completes, or is removed from the queue; and how a unit is
// closed. The owner of the unit takes requests from the head of the ring. Any thread may remove a
// waiting one. publish_completion() and remove() are the two publication points; unit.h states the
// order of their steps.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/cancellation.h"
#include "base/hooks.h"
#include "queue/units/unit_impl.h"

namespace millrace::queue {

using Look = Ring<Request>::Look;

namespace {

// How long a close waits for a request without progress, unless the options set a time.
constexpr std::chrono::seconds kClosePatience{10};
// How long a close waits before it logs which request it waits for.
constexpr std::chrono::seconds kLongClose{1};

void emit_completed(const Completion& completion) noexcept {
  const auto code = static_cast<uint64_t>(completion.status.code());
  if (completion.status.ok()) [[likely]]
    emit(HookPoint::kCompleted, completion.sequence, code);
  else
    emit_surely(HookPoint::kCompleted, completion.sequence, code);
}

}  // namespace

uint64_t Unit::Impl::ticket() const noexcept {
  const uint64_t head = ring_.head();
  return ring_.look(head) == Look::kReady ? ring_.request(head).ticket.get() : 0;
}

bool Unit::Impl::run_one(LaneId lane) noexcept {
  if (closed_.load(std::memory_order_seq_cst)) return true;  // close() cancels the queued requests
  const uint64_t counter = take_head();
  if (counter == 0) return true;
  if (lane != kNoLane) return run_taken(counter, lane);
  refuse_without_lane(counter);
  return true;
}

// Fails the head, which the caller has taken, without starting it. It fails even if the unit is
// reset meanwhile by a thread that finds new lanes, since this thread still has no lane to run it
// on. It must not start, since the monitor could give up a request that has no thread to set aside.
void Unit::Impl::refuse_without_lane(uint64_t counter) noexcept {
  degrade(no_lane_);
  Status cause = failure();
  if (cause.ok()) cause = no_lane_;
  remove(counter, std::move(cause));
}

// Runs the head, which the caller has taken.
bool Unit::Impl::run_taken(uint64_t counter, LaneId lane) noexcept {
  Running& running = *running_;
  const Request& waiting = ring_.request(counter);
  running.control.begin(sequence(counter), lane, deadline_of(waiting), waiting.task->number());
  lanes_->expect(lane, mean_run_ns_.load(std::memory_order_relaxed));
  ring_.start(counter, running.request);
  return run_started(counter, running, lane);
}

// Runs the head if the owner itself has claimed it and has filled the idle task with it. A caller
// that executes one request after another needs helpers that stay awake, however short each is.
bool Unit::Impl::run_unseen(uint64_t counter, LaneId lane) noexcept {
  Running& running = *running_;
  running.request.deadline.set(kNoDeadline.time_since_epoch().count());
  running.control.begin(sequence(counter), lane, kNoDeadline, running.request.task->number());
  lanes_->expect(lane, 0);
  ring_.start_unseen(counter);
  return run_started(counter, running, lane);
}

// Runs and completes a request that has started. Returns false if it was given up. `running` is
// passed because running_ is replaced when the request is given up.
bool Unit::Impl::run_started(uint64_t counter, Running& running, LaneId lane) noexcept {
  cell_vacated(counter);
  Status status = refusal(running.request);
  std::chrono::nanoseconds taken{0};
  if (status.ok()) {
    emit(HookPoint::kStarted, sequence(counter), lane);
    status = run_timed(counter, running, taken);
  }
  if (!ring_.finish(counter)) {
    abandon(&running);
    return false;
  }
  // Waits for a closing thread that may be describing the request in a log line; see
  // log_close_waits.
  if (closed_.load(std::memory_order_seq_cst)) {
    const std::lock_guard not_described(watch_mutex_);
  }
  note_run(taken);
  if (status.code() == StatusCode::kDeviceFailed || status.code() == StatusCode::kHung)
    after_device_failure(status);
  complete(counter, running.request, std::move(status));
  return true;
}

// Takes the next request to run and returns its counter; 0 if there is none. Passes removed
// requests.
uint64_t Unit::Impl::take_head() noexcept {
  bool passed = false;
  uint64_t head = ring_.head();
  for (;; head = ring_.head()) {
    const Look look = ring_.look(head);
    if (look == Look::kPassed) {
      pass_head();
      passed = true;
    } else if (look == Look::kNothing) {
      head = 0;
      break;
    } else if (ring_.take(head)) {
      break;
    }
  }
  if (passed) notify(ring_.completed(), ring_.completed());
  return head;
}

// Returns why the request must not run; OK if it may.
Status Unit::Impl::refusal(const Request& request) {
  if (state() == UnitState::kDegraded) return failure();
  const Deadline deadline = deadline_of(request);
  if (deadline != kNoDeadline && std::chrono::steady_clock::now() >= deadline)
    return removed_status(StopCause::kDeadline);
  return {};
}

// Runs the task, and measures the time of some.
Status Unit::Impl::run_timed(uint64_t counter, Running& running,
                             std::chrono::nanoseconds& taken) noexcept {
  if (!measures_run(counter)) [[likely]]
    return running.request.task->run(running.control);
  const auto begin = std::chrono::steady_clock::now();
  Status status = running.request.task->run(running.control);
  taken = std::chrono::steady_clock::now() - begin;
  return status;
}

// Updates the exponential moving average of the time of a run, in which the newest has a weight of
// 1/8.
void Unit::Impl::note_run(std::chrono::nanoseconds taken) noexcept {
  if (taken.count() == 0) return;
  run_times_.add(taken.count());
  const int64_t mean = mean_run_ns_.load(std::memory_order_relaxed);
  mean_run_ns_.store(mean == 0 ? taken.count() : mean + (taken.count() - mean) / 8,
                     std::memory_order_relaxed);
}

// Called by the thread that hung, when it has returned from the request: releases what it kept
// alive.
void Unit::Impl::abandon(Running* running) noexcept {
  { const std::lock_guard lock(watch_mutex_); }  // waits until give_up no longer uses it
  running->request.task->release();
  delete running;
}

void Unit::Impl::complete(uint64_t counter, Request& request, Status status) noexcept {
  publish_completion(counter, request, std::move(status));
  request.task->release();
}

// The publication point of a request that has started. The outputs' bytes are written.
void Unit::Impl::publish_completion(uint64_t counter, Request& request, Status status) noexcept {
  const Completion completion{sequence(counter), std::move(status)};
  request.task->write_status(completion);
  record(completion, true);
  emit_completed(completion);
  ring_.complete();
  request.task->on_published(completion);
  post_callback(request, completion);
  while (ring_.look(ring_.head()) == Look::kPassed) pass_head();
  notify(counter, ring_.completed());
}

// Completes a request that the calling thread has taken from the queue before it started.
// Thread-safe.
void Unit::Impl::remove(uint64_t counter, Status status) noexcept {
  const Visit visit(inside_);
  Request& request = ring_.request(counter);
  const Completion completion{sequence(counter), std::move(status)};
  request.task->write_status(completion);
  record(completion, false);
  if (request.callback && options_.callback_order == CallbackOrder::kSubmission) {
    request.callback.set_result(completion.sequence, completion.status);
    deferred_.add(std::move(request.callback));
  }
  emit_completed(completion);
  ring_.complete_removed(counter);
  request.task->on_published(completion);
  post_callback(request, completion);
  waits_.completed_alone(counter);
  notify(counter, counter);
  request.task->release();
  ring_.vacate(counter);
  cell_vacated(counter);
  pass_removed();
}

// Called after a request was removed. Passes it and lets the requests after it run, even if nothing
// else happens to the unit and all lanes are busy. If the head is running, or another thread is
// just removing it, that thread does so.
void Unit::Impl::pass_removed() noexcept {
  if (ring_.look(ring_.head()) == Look::kNothing) return;
  if (!lanes_->own(*this)) return;  // the lane that holds the unit will pass it
  const uint64_t before = ring_.completed();
  while (ring_.look(ring_.head()) == Look::kPassed) pass_head();
  if (ring_.completed() != before) notify(before + 1, ring_.completed());
  lanes_->resume(*this);
}

void Unit::Impl::record(const Completion& completion, bool started) noexcept {
  if (completion.status.ok()) return;
  count_of(completion.status.code()).fetch_add(1, std::memory_order_relaxed);
  results_.record_failure(counter_of(completion.sequence), completion.status, started);
}

std::atomic<uint64_t>& Unit::Impl::count_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kCancelled:
      return counts_.cancelled;
    case StatusCode::kDropped:
      return counts_.dropped;
    case StatusCode::kDeadlineExceeded:
      return counts_.late;
    default:
      return counts_.failed;
  }
}

UnitStatistics Unit::Impl::statistics() const noexcept {
  const auto value = [](const std::atomic<uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  UnitStatistics known{
      .submitted = ring_.issued(),
      .refused = value(counts_.refused),
      .in_flight = ring_.in_flight(),
      .cancelled = value(counts_.cancelled),
      .dropped = value(counts_.dropped),
      .late = value(counts_.late),
      .failed = value(counts_.failed),
      .mean_run = std::chrono::nanoseconds(mean_run_ns_.load(std::memory_order_relaxed))};
  const uint64_t ended = known.submitted - std::min<uint64_t>(known.submitted, known.in_flight);
  const uint64_t others = known.cancelled + known.dropped + known.late + known.failed;
  // A job that fails is counted before its end, so this is never more than the jobs that succeeded.
  // The largest such number is the best, and it never goes down.
  const uint64_t succeeded = ended - std::min(ended, others);
  uint64_t best = succeeded_.load(std::memory_order_relaxed);
  while (best < succeeded &&
         !succeeded_.compare_exchange_weak(best, succeeded, std::memory_order_relaxed)) {
  }
  known.succeeded = std::max(best, succeeded);
  return known;
}

void Unit::Impl::post_callback(Request& request, const Completion& completion) noexcept {
  if (!request.callback) return;
  request.callback.set_result(completion.sequence, completion.status);
  strand_->post(std::move(request.callback));
}

// Counts the head, which was removed, as completed, and posts its callback if that was deferred.
void Unit::Impl::pass_head() noexcept {
  const uint64_t head = ring_.head();
  ring_.pass();
  if (PreparedCall callback = deferred_.take(sequence(head))) strand_->post(std::move(callback));
}

// Notifies waiters, event fds and threads that wait for room that requests `first` to `last` are
// completed.
void Unit::Impl::notify(uint64_t first, uint64_t last) noexcept {
  waits_.completed_through(ring_.completed());
  if (fds_.any()) {
    fds_.completed(first, last);
    fds_.notify_each();
    fds_.notify_free([this](uint32_t places) { return ring_.has_room(places); });
  }
  room_.changed();
}

// Notifies threads that have found enough free places, but this cell still in use. That is rare,
// since there are more cells than places.
void Unit::Impl::cell_vacated(uint64_t counter) noexcept {
  if (fds_.any())
    fds_.notify_free([&](uint32_t places) {
      return ring_.is_among_next(counter, places) && ring_.has_room(places);
    });
  room_.changed();
}

void Unit::Impl::begin_close() noexcept {
  const std::lock_guard lock(watch_mutex_);
  if (closed_.exchange(true, std::memory_order_seq_cst)) return;
  closed_at_ = std::chrono::steady_clock::now();
  // Records the present progress: the patience of the close counts from here.
  stuck_request(closed_at_ - Monitor::late_wakes().noticed(), std::chrono::nanoseconds::max());
  ring_.close();
  room_.changed();
}

void Unit::Impl::close() {
  if (closing_.exchange(true, std::memory_order_seq_cst)) return wait_until_closed();
  const CancellationOff whole;
  begin_close();
  take_from_lanes();
  submitters_.wait_until_gone();
  cancel_queued();
  // Threads that remove a request may still post a callback, so they have to leave before the
  // drain.
  inside_.wait_until_gone();
  strand_->drain();
  if (std::exchange(attached_, false)) lanes_->detach();
  stop_expecting_waits();
  own_lanes_.reset();
  drop_tasks();
  ended_.store(true, std::memory_order_release);
  ended_.notify_all();
}

void Unit::Impl::stop_expecting_waits() noexcept {
  const std::lock_guard lock(watch_mutex_);
  if (std::exchange(expects_waits_, false)) lanes_->remove_waiting_unit();
}

// For a second caller of close(). A callback of the unit must not wait here, since the first caller
// may be waiting for that callback.
void Unit::Impl::wait_until_closed() noexcept {
  {
    const std::lock_guard lock(watch_mutex_);
    if (strand_ && strand_->runs_on_this_thread()) return;
  }
  ended_.wait(false, std::memory_order_acquire);
}

// Becomes the owner of the unit. Waits for the running request as long as it makes progress, and
// gives it up otherwise. Logs a line once the wait is long, and always before it gives up.
void Unit::Impl::take_from_lanes() {
  const std::chrono::nanoseconds patience = close_patience();
  const auto look_again =
      std::min<std::chrono::nanoseconds>(patience, std::chrono::milliseconds(50));
  const auto long_wait = std::min<std::chrono::nanoseconds>(patience / 2, kLongClose);
  bool logged = false;
  const std::chrono::nanoseconds stopped_before = Monitor::late_wakes().noticed();
  LateWakes own;  // measures stops of the process here, since the monitor may have no timer
  for (;;) {
    const Deadline wake = std::chrono::steady_clock::now() + look_again;
    own.sleeps_until(wake);
    if (lanes_->reclaim(*this, wake)) return;
    const std::lock_guard lock(watch_mutex_);
    const Deadline now = std::chrono::steady_clock::now();
    own.woke(now);
    const uint64_t running = ring_.running();
    if (running != 0 && now - closed_at_ >= long_wait && !std::exchange(logged, true))
      log_close_waits(running, patience);
    const Deadline without_stops = now - stopped_before - own.noticed();
    if (const uint64_t stuck = stuck_request(without_stops, patience); stuck != 0)
      give_up(stuck, patience);
  }
}

// Returns how long a close waits for a request without progress.
std::chrono::nanoseconds Unit::Impl::close_patience() const noexcept {
  const std::chrono::nanoseconds watchdog = options_.watchdog;
  if (watchdog.count() <= 0) return options_.close_patience.value_or(kClosePatience);
  return std::min(options_.close_patience.value_or(watchdog), watchdog);
}

void Unit::Impl::cancel_queued() {
  while (ring_.head() <= ring_.issued()) {
    const uint64_t counter = take_head();
    if (counter == 0) {  // another thread is removing it
      std::this_thread::yield();
      continue;
    }
    ring_.start(counter, running_->request);
    ring_.finish(counter);
    complete(counter, running_->request,
             {StatusCode::kCancelled, "the unit was closed before the request ran"});
  }
}

// Destroys the tasks, which belong to the caller. A lane or the monitor may keep this object a
// moment longer, and other threads may still ask it for results.
void Unit::Impl::drop_tasks() {
  const std::lock_guard lock(watch_mutex_);
  for (uint64_t index = 0; index < ring_.cell_count(); ++index) ring_.request(index).task.reset();
  running_->request.task.reset();
  strand_.reset();
  monitor_->forget(*this);
  monitor_.reset();
}

}  // namespace millrace::queue
