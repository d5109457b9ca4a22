// The timers of a unit: deadlines of queued requests, and the watchdog, which gives up a request
// without progress. It runs on the monitor's thread (on_time), four times per period of the
// watchdog. A request that is given up completes with kHung; the unit is then reset, or degraded
// until reset() is called.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "base/format_status.h"
#include "base/log.h"
#include "queue/units/unit_impl.h"

namespace millrace::queue {
namespace {

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

// Requests a call of on_time(), unless an earlier one is pending.
void Unit::Impl::call_at(Deadline when) noexcept {
  const Deadline::rep wanted = when.time_since_epoch().count();
  Deadline::rep coming = called_at_.load(std::memory_order_seq_cst);
  while (wanted < coming) {
    if (!called_at_.compare_exchange_weak(coming, wanted, std::memory_order_seq_cst)) continue;
    monitor_->call_at(when, std::static_pointer_cast<Impl>(shared_from_this()));
    return;
  }
}

void Unit::Impl::on_time() noexcept {
  const Visit visit(inside_);
  if (closed_.load(std::memory_order_seq_cst)) return;
  const Deadline now = std::chrono::steady_clock::now();
  // The pending call is later than this one, so this one is outdated and another will follow.
  if (called_at_.load(std::memory_order_seq_cst) > now.time_since_epoch().count()) return;
  // Stored before the queue is examined: a thread that publishes a request afterwards requests a
  // call of its own.
  called_at_.store(kNoDeadline.time_since_epoch().count(), std::memory_order_seq_cst);
  const Deadline next = std::min(check_deadlines(now), check_progress(now));
  if (next != kNoDeadline) call_at(next);
}

// Removes queued requests whose deadline has passed; returns the earliest deadline of the others.
Deadline Unit::Impl::check_deadlines(Deadline now) {
  Deadline next = kNoDeadline;
  const uint64_t last = ring_.issued();
  for (uint64_t counter = first_waiting(); counter <= last; ++counter) {
    if (ring_.look(counter) != Ring<Request>::Look::kReady) continue;
    const Deadline deadline = deadline_of(ring_.request(counter));
    if (deadline > now)
      next = std::min(next, deadline);
    else if (ring_.take(counter))
      remove(counter, removed_status(StopCause::kDeadline));
  }
  return next;
}

// Gives the running request up if it has made no progress for the time of the watchdog; returns
// when to check again.
Deadline Unit::Impl::check_progress(Deadline now) {
  if (options_.watchdog.count() <= 0) return kNoDeadline;
  if (ring_.in_flight() == 0) {
    watching_.store(false, std::memory_order_seq_cst);
    // Pairs with the load in watch(), which follows the claim of a request: either the submitter
    // sees that the unit is not watched and asks for a call, or the claim is seen here.
    if (ring_.is_idle() || watching_.exchange(true, std::memory_order_seq_cst)) return kNoDeadline;
  }
  const std::lock_guard lock(watch_mutex_);
  const Deadline without_stops = now - Monitor::late_wakes().total(now);
  if (const uint64_t stuck = stuck_request(without_stops, options_.watchdog); stuck != 0)
    give_up(stuck, options_.watchdog);
  return now + options_.watchdog / 4;
}

// Returns the running request if its progress has not changed for `patience`, and 0 otherwise.
// Records the request and its progress in seen_ if they have changed. `now` leaves out the time in
// which the process was stopped. Requirement: watch_mutex_ is held.
uint64_t Unit::Impl::stuck_request(Deadline now, std::chrono::nanoseconds patience) {
  const uint64_t running = ring_.running();
  const uint64_t marks = running_->control.marks();
  if (running != 0 && running == seen_.counter && marks == seen_.marks)
    return now - seen_.since >= patience ? running : 0;
  seen_ = {running, marks, now};
  return 0;
}

// Makes an idle task with its control; null if there is no memory.
std::unique_ptr<Unit::Impl::Running> Unit::Impl::make_running() noexcept {
  try {
    auto made = std::make_unique<Running>();
    made->request.task = options_.make_task();
    made->control.set_team(lanes_->team());
    return made->request.task ? std::move(made) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Gives up the running request: completes it with kHung on this thread, and lets another lane
// continue the unit. The thread that hangs keeps the task, with everything that the request refers
// to, until it returns; its result is ignored. Returns false if the request has ended after all, or
// there is no memory for a new Running. Requirement: watch_mutex_ is held.
bool Unit::Impl::give_up(uint64_t counter, std::chrono::nanoseconds patience) {
  std::unique_ptr<Running> next = make_running();
  if (!next || !ring_.finish(counter)) return false;
  Running& hung = *running_.release();  // abandon() deletes it
  running_ = std::move(next);
  // If the thread ever returns to a point between two pieces of work, it must stop there, since the
  // submitter may have freed the memory that it would write to.
  hung.control.request_stop(sequence(counter));

  Status status = report(hung, counter, patience);
  log(LogLevel::kError, "queue", status.message());
  state_.store(UnitState::kResetting, std::memory_order_seq_cst);
  const bool replaced = lanes_->replace(hung.control.lane(), hung.on_borrowed_lane);
  if (!options_.auto_reset)
    degrade(format_status(StatusCode::kUnitDegraded, "degraded until it is reset: {}",
                          status.message()));
  else if (!replaced)
    degrade(format_status(StatusCode::kUnitDegraded, "degraded, too many requests hang: {}",
                          status.message()));
  publish_completion(counter, hung.request, std::move(status));
  if (state() == UnitState::kResetting) {
    generation_.fetch_add(1, std::memory_order_relaxed);
    state_.store(UnitState::kHealthy, std::memory_order_seq_cst);
  }
  lanes_->resume(*this);
  return true;
}

Status Unit::Impl::report(const Running& hung, uint64_t counter,
                          std::chrono::nanoseconds patience) noexcept {
  try {
    return {StatusCode::kHung,
            fmt::format("{} made no progress for {:.0f} ms in {}; its thread is set aside, its "
                        "outputs are undefined",
                        name_of(counter), milliseconds(patience), where(hung))};
  } catch (const std::exception&) {
    return {StatusCode::kHung,
            "the request made no progress; there is no memory for a message that says where"};
  }
}

// Logs which request a close waits for. Requirement: watch_mutex_ is held, and the request was seen
// running after closed_ was set. The thread that runs it first calls Ring::finish() and then reads
// closed_. All these accesses are sequentially consistent, so that thread waits for the mutex
// before it releases the task that is described here.
void Unit::Impl::log_close_waits(uint64_t counter, std::chrono::nanoseconds patience) noexcept {
  if (!log_enabled(LogLevel::kWarning)) return;
  try {
    log_format(LogLevel::kWarning, "queue",
               "{} is running, in {}; the close of the unit waits for it, and gives it up after "
               "{:.0f} ms without progress",
               name_of(counter), where(*running_), milliseconds(patience));
  } catch (const std::exception&) {
    log(LogLevel::kWarning, "queue", "the close of a unit waits for a running request");
  }
}

// Names the request as timelines do, and with the id that its users know, such as: job 3:17 of unit
// 'COMPUTE of core 0' (request 0x10011).
std::string Unit::Impl::name_of(uint64_t counter) const {
  const std::string unit =
      options_.name.empty() ? std::string() : fmt::format(" of unit '{}'", options_.name);
  return fmt::format("job {}:{}{} (request {:#x})", id(), counter, unit,
                     sequence_of(options_.shown_number.value_or(id()), counter));
}

// Describes what the request is doing.
std::string Unit::Impl::where(const Running& running) {
  const RunPosition position = running.control.position();
  std::string text = running.request.task->describe(position);
  return text.empty() ? fmt::format("step {}", position.step) : text;
}

void Unit::Impl::degrade(Status cause) {
  const std::lock_guard lock(failure_mutex_);
  if (state() == UnitState::kDegraded) return;
  failure_ = std::move(cause);
  state_.store(UnitState::kDegraded, std::memory_order_seq_cst);
  room_.changed();
}

void Unit::Impl::after_device_failure(const Status& status) {
  if (options_.auto_reset)
    generation_.fetch_add(1, std::memory_order_relaxed);
  else
    degrade(format_status(StatusCode::kUnitDegraded, "degraded until it is reset: {}",
                          status.message()));
}

Status Unit::Impl::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return state() == UnitState::kDegraded ? failure_ : Status();
}

Status Unit::Impl::reset() {
  const std::lock_guard lock(failure_mutex_);
  if (closed_.load(std::memory_order_seq_cst)) return closed_status_;
  if (state() != UnitState::kDegraded) return {};
  MILLRACE_RETURN_IF_ERROR(lanes_->fill_up());
  failure_ = Status();
  generation_.fetch_add(1, std::memory_order_relaxed);
  state_.store(UnitState::kHealthy, std::memory_order_seq_cst);
  return {};
}

}  // namespace millrace::queue
