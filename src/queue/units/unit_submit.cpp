// How a unit accepts a request. A submitter claims a place of the ring, fills the task and
// publishes the request. Everything that can fail, such as starting threads and allocating the
// callback, is done before the claim. If the unit is full, its policy (WhenFull) decides. A
// synchronous request may run inline, on the calling thread with a borrowed lane.
#include <algorithm>
#include <utility>

#include "base/contained.h"
#include "base/float_environment.h"
#include "base/hooks.h"
#include "queue/units/unit_impl.h"

namespace millrace::queue {
namespace {

Status late_status() {
  return {StatusCode::kDeadlineExceeded,
          "the deadline passed before the unit could accept the request"};
}

}  // namespace

Result<SequenceId> Unit::Impl::claim(SubmitOptions& options, PreparedCall& callback,
                                     Patience patience, Deadline limit) {
  Result<SequenceId> id = claim_by_policy(options, callback, patience, limit);
  // A caller that waits in several steps is not refused at the end of each.
  const bool goes_on =
      patience == Patience::kUntilLimit && !id.ok() && id.status().code() == StatusCode::kQueueFull;
  if (!id.ok() && !goes_on) counts_.refused.fetch_add(1, std::memory_order_relaxed);
  return id;
}

Result<SequenceId> Unit::Impl::claim_by_policy(SubmitOptions& options, PreparedCall& callback,
                                               Patience patience, Deadline limit) {
  uint32_t count = 1;
  Result<SequenceId> id = prepare_and_enter(options, callback, count);
  if (id.ok()) return id;
  if (id.status().code() != StatusCode::kQueueFull || patience == Patience::kNone) return id;
  if (patience == Patience::kUntilLimit) return claim_waiting(limit, full_);
  switch (options_.when_full) {
    case WhenFull::kFail:
      return id;
    case WhenFull::kBlock:
      return claim_waiting(options.deadline, late_status());
    case WhenFull::kDropOldest:
    case WhenFull::kShedByDeadline:
      break;
  }
  return claim_displacing(options);
}

Result<SequenceId> Unit::Impl::claim_n(uint32_t& count, Deadline deadline) {
  SubmitOptions options{.callback = {}, .deadline = deadline};
  PreparedCall none;
  Result<SequenceId> first = prepare_and_enter(options, none, count);
  if (!first.ok()) counts_.refused.fetch_add(1, std::memory_order_relaxed);
  return first;
}

// Enters `submitters_` and claims up to `count` places. After a success the thread stays in
// `submitters_` until publish() or publish_n().
Result<SequenceId> Unit::Impl::prepare_and_enter(SubmitOptions& options, PreparedCall& callback,
                                                 uint32_t& count) {
  Visit visit(submitters_);
  MILLRACE_RETURN_IF_ERROR(prepare(options, callback));
  Result<SequenceId> first = try_claim(count);
  if (first.ok()) visit.stay();
  return first;
}

// Starts the threads that the request will need, and allocates its callback.
Status Unit::Impl::prepare(SubmitOptions& options, PreparedCall& callback) {
  if (closed_.load(std::memory_order_seq_cst)) return closed_status_;
  if (options.callback) {
    MILLRACE_RETURN_IF_ERROR(strand_->start());
    MILLRACE_RETURN_IF_ERROR(contained([&] {
      callback = PreparedCall(std::move(options.callback));
      return Status();
    }));
  }
  if (options.deadline != kNoDeadline || options_.watchdog.count() > 0)
    MILLRACE_RETURN_IF_ERROR(monitor_->start());
  if (has_own_lanes_) MILLRACE_RETURN_IF_ERROR(lanes_->start());
  return {};
}

Result<SequenceId> Unit::Impl::try_claim(uint32_t& count) {
  // failure() is OK if the unit was reset between the two reads.
  if (state() == UnitState::kDegraded)
    if (Status cause = failure(); !cause.ok()) return cause;
  uint64_t counter = 0;
  switch (claim_in_order(counter, count)) {
    case Ring<Request>::Claim::kOk:
      return sequence(counter);
    case Ring<Request>::Claim::kFull:
      return full_;
    case Ring<Request>::Claim::kClosed:
      break;
  }
  return closed_status_;
}

// Claims places and, if the unit has an acceptance order, numbers the requests. The claimed cells
// belong to this thread.
Ring<Request>::Claim Unit::Impl::claim_in_order(uint64_t& counter, uint32_t& count) {
  if (options_.acceptance_order == nullptr) [[likely]]
    return ring_.claim(counter, count);
  AcceptanceOrder& order = *options_.acceptance_order;
  const AcceptanceOrder::Lock in_order = order.lock();
  const Ring<Request>::Claim claim = ring_.claim(counter, count);
  if (claim != Ring<Request>::Claim::kOk) return claim;
  for (uint32_t i = 0; i < count; ++i) task(counter + i).set_number(order.accept());
  return claim;
}

// Claims one place. Stays in `submitters_` only after a success.
Result<SequenceId> Unit::Impl::try_enter() {
  Visit visit(submitters_);
  uint32_t count = 1;
  Result<SequenceId> id = try_claim(count);
  if (id.ok()) visit.stay();
  return id;
}

// Waits for a place until `limit`, then returns `otherwise`.
Result<SequenceId> Unit::Impl::claim_waiting(Deadline limit, const Status& otherwise) {
  const Visit visit(inside_);
  for (;;) {
    const bool changed = room_.wait_until(limit, [this] {
      return ring_.has_room() || state() == UnitState::kDegraded || closed_.load();
    });
    if (!changed) return otherwise;
    Result<SequenceId> id = try_enter();
    if (id.ok() || id.status().code() != StatusCode::kQueueFull) return id;
  }
}

// Makes a place by removing a queued request, and claims it. Other threads may claim the place
// first, so this repeats until nothing is left to displace.
Result<SequenceId> Unit::Impl::claim_displacing(const SubmitOptions& options) {
  const Visit visit(inside_);
  for (;;) {
    const bool open = state() != UnitState::kDegraded && !closed_.load(std::memory_order_seq_cst);
    if (open && !ring_.has_room()) MILLRACE_RETURN_IF_ERROR(displace(options.deadline));
    Result<SequenceId> id = try_enter();
    if (id.ok() || id.status().code() != StatusCode::kQueueFull) return id;
  }
}

// Removes one queued request by the unit's policy. Returns OK if there may be room now.
Status Unit::Impl::displace(Deadline newcomer) {
  if (ring_.in_flight() < ring_.depth()) {
    if (ring_.has_room()) return {};
    // There is a free place, but its cell is in use: displacing a request would not help.
    if (ring_.in_flight() < ring_.depth()) return full_;
  }
  if (!ring_.may_displace()) return full_;
  if (options_.when_full == WhenFull::kShedByDeadline) return shed_one(newcomer);
  return drop_oldest() ? Status() : full_;
}

// Returns the first request that may be waiting. It stores the position, so that later searches do
// not examine the requests again that were removed while an earlier one runs.
uint64_t Unit::Impl::first_waiting() noexcept {
  const uint64_t last = ring_.issued();
  uint64_t counter = std::max(ring_.head(), first_waiting_.load(std::memory_order_relaxed));
  if (counter == ring_.running()) ++counter;
  while (counter <= last && ring_.look(counter) == Ring<Request>::Look::kPassed) ++counter;
  first_waiting_.store(counter, std::memory_order_relaxed);
  return counter;
}

bool Unit::Impl::drop_oldest() {
  const uint64_t last = ring_.issued();
  for (uint64_t counter = first_waiting(); counter <= last; ++counter) {
    if (!ring_.take(counter)) continue;
    remove(counter, dropped_);
    return true;
  }
  return false;
}

// Sheds the request with the greatest expected lateness: queued requests and the newcomer, which
// would be last. A request is expected to end after its position in the queue times the mean time
// of a run. Returns kDeadlineExceeded if that is the newcomer, and OK if there may be room now.
Status Unit::Impl::shed_one(Deadline newcomer) {
  const int64_t mean = mean_run_ns_.load(std::memory_order_relaxed);
  const Deadline now = std::chrono::steady_clock::now();
  const auto lateness = [&](int64_t position, Deadline deadline) {
    return deadline == kNoDeadline ? Deadline::duration::min()
                                   : now + std::chrono::nanoseconds(position * mean) - deadline;
  };
  uint64_t victim = 0;
  Deadline::duration latest = Deadline::duration::zero();
  const uint64_t last = ring_.issued();
  int64_t position = ring_.running() != 0 ? 2 : 1;
  for (uint64_t counter = first_waiting(); counter <= last; ++counter) {
    if (ring_.look(counter) != Ring<Request>::Look::kReady) continue;
    const auto late = lateness(position++, deadline_of(ring_.request(counter)));
    if (late <= latest) continue;
    latest = late;
    victim = counter;
  }
  if (lateness(position, newcomer) > latest)
    return {StatusCode::kDeadlineExceeded,
            "the unit is full, and this request was not expected to finish by its deadline"};
  if (victim == 0) return full_;
  if (ring_.take(victim)) remove(victim, shed_);
  return {};
}

void Unit::Impl::fill_in(Request& request, Deadline deadline) noexcept {
  request.ticket.set(lanes_->next_ticket());
  request.deadline.set(deadline.time_since_epoch().count());
}

void Unit::Impl::publish(uint64_t counter, PreparedCall&& callback, Deadline deadline) noexcept {
  Request& request = ring_.request(counter);
  fill_in(request, deadline);
  if (callback) request.callback = std::move(callback);
  emit(HookPoint::kSubmitted, sequence(counter));
  ring_.publish(counter);
  watch(deadline);
  lanes_->schedule(*this);
  submitters_.leave();
}

void Unit::Impl::publish_n(uint64_t first, uint32_t count, Deadline deadline) noexcept {
  for (uint64_t counter = first; counter < first + count; ++counter) {
    fill_in(ring_.request(counter), deadline);
    emit(HookPoint::kSubmitted, sequence(counter));
    ring_.publish(counter);
  }
  watch(deadline);
  lanes_->schedule(*this);
  submitters_.leave();
}

// Sets the monitor's timer for the deadline and the watchdog of a request that was just published.
void Unit::Impl::watch(Deadline deadline) noexcept {
  if (deadline != kNoDeadline) call_at(deadline);
  if (options_.watchdog.count() <= 0) return;
  // The load avoids most exchanges, which would take the cache line from all threads that read it.
  if (!watching_.load(std::memory_order_seq_cst) &&
      !watching_.exchange(true, std::memory_order_seq_cst))
    call_at(std::chrono::steady_clock::now() + options_.watchdog / 4);
}

// Claims a place as the owner of the unit, for a request that this thread runs itself on a borrowed
// lane. Returns nothing if the request has to be submitted instead. This thread stays the owner
// until run_inline() ends. A closing thread waits until it is the owner, so this one need not enter
// `submitters_`.
std::optional<Unit::InlineRun> Unit::Impl::begin_inline() {
  if (has_own_lanes_ || options_.watchdog.count() > 0) return std::nullopt;
  if (closed_.load(std::memory_order_seq_cst) || ring_.in_flight() != 0) return std::nullopt;
  const LaneId lane = lanes_->borrow(*this);
  if (lane == kNoLane) return std::nullopt;
  uint32_t count = 1;
  const Result<SequenceId> id = try_claim(count);
  if (!id.ok()) {
    lanes_->give_back(*this, lane);
    return std::nullopt;
  }
  // The request is usually the head, and then remains so. No other thread ever sees it waiting.
  const uint64_t counter = counter_of(*id);
  const bool is_first = ring_.head() == counter;
  if (is_first && options_.acceptance_order != nullptr) [[unlikely]]
    idle_task().set_number(task(counter).number());
  return InlineRun{*id, lane, is_first};
}

Status Unit::Impl::run_inline(const InlineRun& run) noexcept {
  const uint64_t counter = counter_of(run.id);
  emit(HookPoint::kSubmitted, run.id);
  running_->on_borrowed_lane = true;
  if (run_as_owner(run)) {
    running_->on_borrowed_lane = false;
    lanes_->give_back(*this, run.lane);
  } else {
    lanes_->give_back_late(run.lane);
  }
  return ring_.is_completed(counter) ? result(counter)
                                     : wait(run.id, std::chrono::nanoseconds::max());
}

// Runs the claimed request, and others that are before it, on a unit that this thread owns. Returns
// false if a request was given up and so the unit was taken from this thread.
bool Unit::Impl::run_as_owner(const InlineRun& run) noexcept {
  const uint64_t counter = counter_of(run.id);
  const DefaultFloatEnvironment floats;
  if (run.is_first && !closed_.load(std::memory_order_seq_cst))
    return run_unseen(counter, run.lane);
  // Either other threads have submitted requests in between, which run first, or the unit was
  // closed, and nothing runs.
  Request& request = ring_.request(counter);
  if (run.is_first) request.task.swap(running_->request.task);
  request.deadline.set(kNoDeadline.time_since_epoch().count());
  request.ticket.set(0);  // before all other requests
  ring_.publish(counter);
  while (has_work() && ring_.completed() < counter)
    if (!run_one(run.lane)) return false;
  return true;
}

}  // namespace millrace::queue
