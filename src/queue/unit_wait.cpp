// How callers learn that a request is completed, and how they ask for its end.
#include <fmt/format.h>

#include <utility>

#include "base/hooks.h"
#include "base/log.h"
#include "queue/deadline.h"
#include "queue/unit_impl.h"

namespace millrace::queue {
namespace {

const Status& removed_status() {
  // Never destroyed: requests may be cancelled while the process exits.
  static const auto* made =
      new Status(StatusCode::kCancelled, "cancelled before it started: its outputs are untouched");
  return *made;
}

}  // namespace

Status Unit::Impl::wait(SequenceId id, std::chrono::nanoseconds timeout) {
  if (!issued(id)) return unknown(id);
  const uint64_t counter = counter_of(id);
  const uint64_t completed = ring_.completed();
  if (completed >= counter)
    return completed - counter < ResultTable::kRemembered ? result(counter) : forgotten(id);
  if (ring_.is_completed(counter)) return result(counter);
  if (timeout <= timeout.zero()) return pending_;
  const Visit visit(inside_);
  return wait_until_completed(counter, timeout) ? result(counter) : pending_;
}

bool Unit::Impl::wait_until_completed(uint64_t counter, std::chrono::nanoseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  spin_budget::take();
  // Looks at one line of memory only, which changes with every completion. A request withdrawn just
  // now may be missed by that; the wait list finds it.
  uint64_t known = ring_.progress();
  const auto completed = [&] {
    const uint64_t progress = ring_.progress();
    if (Ring<Request>::completed(progress) >= counter) return true;
    return std::exchange(known, progress) != progress && ring_.is_completed(counter);
  };
  const bool seen = spin_.until(completed, timeout);
  spin_budget::give();
  if (seen) return true;
  SleepingWaiter<> waiter(counter);
  return waiter.wait(
      waits_, [this](uint64_t c) { return ring_.is_completed(c); }, deadline);
}

Status Unit::Impl::result(uint64_t counter) {
  std::optional<Status> status = results_.find(counter);
  return status ? *std::move(status) : forgotten(sequence(counter));
}

Status Unit::Impl::unknown(SequenceId id) const {
  return {StatusCode::kInvalidJobId,
          fmt::format("sequence id {:#x} was not issued by unit {}", id, id_.value())};
}

// Says so in the log, too, once.
Status Unit::Impl::forgotten(SequenceId id) {
  Status status(
      StatusCode::kInvalidJobId,
      fmt::format("sequence id {:#x} is older than the {} results that unit {} '{}' keeps", id,
                  ResultTable::kRemembered, id_.value(), options_.name));
  if (!told_of_old_results_.exchange(true)) log(LogLevel::kWarning, "queue", status.message());
  return status;
}

Status Unit::Impl::notify_fd(SequenceId id, int fd) {
  if (!issued(id)) return unknown(id);
  return fds_.set(counter_of(id), fd, [this](uint64_t c) { return ring_.is_completed(c); });
}

Status Unit::Impl::notify_each_fd(int fd) {
  return fds_.set_each(fd);
}

Status Unit::Impl::wait_free(uint32_t k, std::chrono::nanoseconds timeout) {
  if (k > ring_.depth())
    return invalid_argument(
        fmt::format("{} places of a unit of depth {} are never free", k, ring_.depth()));
  const Visit visit(inside_);
  const bool changed = room_.wait_until(deadline_after(timeout),
                                        [&] { return ring_.has_room(k) || closed_.load(); });
  if (closed_.load()) return closed_status_;
  return changed ? Status() : Status(StatusCode::kDeadlineExceeded, "too few places became free");
}

Status Unit::Impl::notify_free_fd(uint32_t k, int fd) {
  if (k > ring_.depth())
    return invalid_argument(
        fmt::format("{} places of a unit of depth {} are never free", k, ring_.depth()));
  return fds_.set_free(k, fd, [this] { return ring_.depth() - ring_.in_flight(); });
}

Result<CancelOutcome> Unit::Impl::cancel(SequenceId id, std::chrono::nanoseconds timeout) {
  if (!issued(id)) return unknown(id);
  const uint64_t counter = counter_of(id);
  if (!ring_.is_completed(counter)) {
    if (ring_.take(counter)) {
      withdraw(counter, removed_status());
      return CancelOutcome::kRemoved;
    }
    // Only the head can have started. Another thread may be about to withdraw the request instead,
    // or its submitter to publish it: a stop asked for too early would hide one for the head.
    const std::lock_guard lock(watch_mutex_);
    if (ring_.head() == counter) running_->control.request_stop(id);
  }
  const Status status = wait(id, timeout);
  if (status.code() == StatusCode::kPending || status.code() == StatusCode::kInvalidJobId)
    return status;
  if (status.message() == removed_status().message()) return CancelOutcome::kRemoved;
  if (status.message() == stopped_status(StopCause::kCancelled).message())
    return CancelOutcome::kStopped;
  return CancelOutcome::kTooLate;
}

std::shared_ptr<Dispatcher> Unit::Impl::dispatcher_for_callbacks() {
  const std::lock_guard lock(watch_mutex_);
  if (!dispatcher_ || !dispatcher_->start().ok()) return nullptr;
  any_callback_.store(true, std::memory_order_relaxed);
  return dispatcher_;
}

}  // namespace millrace::queue
