// How callers learn that a request is completed (wait, poll, event fds), and how they cancel it. A
// wait spins for an adaptive time and then sleeps in the wait list.
#include <fmt/format.h>

#include <utility>

#include "base/format_status.h"
#include "base/hooks.h"
#include "base/log.h"
#include "queue/units/unit_impl.h"
#include "queue/waiting/deadline.h"

namespace millrace::queue {

Status Unit::Impl::wait(SequenceId id, std::chrono::nanoseconds timeout) {
  if (!issued(id)) return unknown(id);
  const uint64_t counter = counter_of(id);
  if (timeout <= timeout.zero()) return poll(counter);
  std::shared_ptr<Source> kept;
  // Another thread may destroy the unit as soon as the request is completed; it waits for visitors.
  const Visit visit(inside_);
  if (ring_.is_completed(counter)) return poll(counter);
  const Deadline deadline = deadline_after(timeout);
  if (may_help(timeout)) help(deadline, kept, [&] { return ring_.is_completed(counter); });
  return wait_until_completed(counter, deadline) ? result(counter) : pending_;
}

// Returns the result without waiting. Successes are not stored, so a result is too old if its
// counter is.
Status Unit::Impl::poll(uint64_t counter) {
  if (!ring_.is_completed(counter)) return pending_;
  const bool old = ring_.completed() >= counter + ResultTable::kRemembered;
  return old ? forgotten(sequence(counter)) : result(counter);
}

bool Unit::Impl::wait_until_completed(uint64_t counter, Deadline deadline) {
  spin_budget::take();
  // Spinning reads only one cache line, which changes with every completion. It may miss a request
  // that is removed at the same time; the wait list finds it.
  uint64_t known = ring_.progress();
  const auto completed = [&] {
    const uint64_t progress = ring_.progress();
    if (Ring<Request>::completed(progress) >= counter) return true;
    return std::exchange(known, progress) != progress && ring_.is_completed(counter);
  };
  const bool seen = spin_.until(completed, time_until(deadline));
  spin_budget::give();
  if (seen) return true;
  SleepingWaiter<> waiter(counter);
  return waiter.wait(
      waits_, [this](uint64_t c) { return ring_.is_completed(c); }, deadline);
}

Status Unit::Impl::result(uint64_t counter) {
  if (!results_.any_failure()) [[likely]]
    return {};
  std::optional<ResultTable::Result> known = results_.find(counter);
  return known ? std::move(known->status) : forgotten(sequence(counter));
}

Status Unit::Impl::unknown(SequenceId id) const {
  return format_status(StatusCode::kInvalidJobId, "sequence id {:#x} was not issued by unit {}", id,
                       id_.value());
}

// Returns the error for a result that is no longer kept. Logs it, too, once for each unit.
Status Unit::Impl::forgotten(SequenceId id) {
  Status status = format_status(
      StatusCode::kInvalidJobId,
      "the result of sequence id {:#x} is no longer known: unit {} '{}' keeps the results of "
      "its last {} requests, and fewer while there is no memory for them",
      id, id_.value(), options_.name, ResultTable::kRemembered);
  if (!old_results_logged_.exchange(true)) log(LogLevel::kWarning, "queue", status.message());
  return status;
}

Status Unit::Impl::notify_fd(SequenceId id, int fd, uint8_t slot) {
  if (!issued(id)) return unknown(id);
  return fds_.set(counter_of(id), slot, fd, [this](uint64_t c) { return ring_.is_completed(c); });
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
  return fds_.set_free(k, fd, [this](uint32_t places) { return ring_.has_room(places); });
}

Result<CancelOutcome> Unit::Impl::cancel(SequenceId id, std::chrono::nanoseconds timeout) {
  if (!issued(id)) return unknown(id);
  const uint64_t counter = counter_of(id);
  if (!ring_.is_completed(counter)) {
    if (ring_.take(counter)) {
      remove(counter, removed_status(StopCause::kCancelled));
      return CancelOutcome::kRemoved;
    }
    // Only the head can have started. If this is not the head, another thread may be about to
    // remove it, or its submitter to publish it; then a request to stop would be too early, and
    // would hide one for the head.
    const std::lock_guard lock(watch_mutex_);
    if (ring_.head() == counter) running_->control.request_stop(id);
  }
  Status status = wait(id, timeout);
  if (status.code() == StatusCode::kPending || status.code() == StatusCode::kInvalidJobId)
    return status;
  if (status.code() != StatusCode::kCancelled) return CancelOutcome::kTooLate;
  const std::optional<ResultTable::Result> known = results_.find(counter);
  if (!known) return forgotten(id);
  return known->started ? CancelOutcome::kStopped : CancelOutcome::kRemoved;
}

std::shared_ptr<Strand> Unit::Impl::strand_for_waiters() {
  const std::lock_guard lock(watch_mutex_);
  return strand_ && strand_->start().ok() ? strand_ : nullptr;
}

}  // namespace millrace::queue
