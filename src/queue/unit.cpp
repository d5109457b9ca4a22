#include "queue/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/hooks.h"
#include "queue/spin.h"
#include "queue/unit_impl.h"

namespace millrace::queue {

Unit::Impl::Impl(Lanes::Impl& lanes, UnitOptions options, UnitId id)
    : id_(std::move(id)),
      lanes_(lanes),
      wait_spin_(std::max(options.wait_spin, std::chrono::microseconds::zero())),
      on_complete_(std::move(options.on_complete)),
      dispatcher_(Dispatcher::instance()),
      full_(StatusCode::kQueueFull,
            fmt::format("unit {} '{}' is full: {} requests are not completed", id_.value(),
                        options.name, options.depth)),
      pending_(StatusCode::kPending, "the request is not completed yet"),
      ring_(options.depth) {}

Status Unit::Impl::make_tasks(const TaskFactory& make_task) {
  for (uint32_t index = 0; index < ring_.slot_count(); ++index) {
    std::unique_ptr<Task>& task = ring_.slot(index).task;
    task = make_task();
    if (task == nullptr) return invalid_argument("the task factory of a unit gave no task");
  }
  return {};
}

Result<SequenceId> Unit::Impl::claim(Task*& task, bool with_callback) {
  if (with_callback) MILLRACE_RETURN_IF_ERROR(dispatcher_->start());
  uint64_t counter = 0;
  ring_.enter();
  const Ring::Claim claim = ring_.claim(counter);
  if (claim == Ring::Claim::kOk) {
    Ring::Slot& slot = ring_.slot(counter);
    slot.ticket = lanes_.next_ticket();
    task = slot.task.get();
    return sequence(counter);
  }
  ring_.leave();
  if (claim == Ring::Claim::kFull) return full_;
  return Status(StatusCode::kUnavailable, "the unit is being destroyed");
}

void Unit::Impl::publish(uint64_t counter, Callback callback) noexcept {
  emit(HookPoint::kSubmitted, sequence(counter));
  if (callback) {
    ring_.slot(counter).callback = std::move(callback);
    any_callback_.store(true, std::memory_order_relaxed);
  }
  ring_.publish(counter);
  lanes_.schedule(*this);
  ring_.leave();
}

uint64_t Unit::Impl::ticket() const noexcept {
  return ring_.has_head() ? ring_.slot(ring_.head()).ticket : 0;
}

void Unit::Impl::run_one(LaneId lane) noexcept {
  if (!has_work()) return;
  const uint64_t counter = ring_.head();
  emit(HookPoint::kStarted, sequence(counter), lane);
  complete(counter, ring_.slot(counter).task->run(lane));
}

// The one publication point. The outputs' bytes are written; see unit.h for the order.
void Unit::Impl::complete(uint64_t counter, Status status) noexcept {
  Ring::Slot& slot = ring_.slot(counter);
  if (!status.ok()) results_.record_failure(counter, status);
  ring_.complete(counter);

  // The slot stays ours until the next request completes: see Ring.
  const Completion completion{sequence(counter), std::move(status)};
  emit(HookPoint::kCompleted, completion.sequence, static_cast<uint64_t>(completion.status.code()));
  if (on_complete_) on_complete_(completion);
  waiters_.wake(counter);
  if (slot.callback) {
    dispatcher_->post([callback = std::move(slot.callback), completion] { callback(completion); });
    slot.callback = nullptr;
  }
  slot.task->release();
}

Status Unit::Impl::wait(SequenceId id, std::chrono::nanoseconds timeout) {
  if (!issued(id)) return unknown(id);
  const uint64_t counter = counter_of(id);
  const uint64_t completed = ring_.completed();
  if (completed >= counter)
    return completed - counter < ResultTable::kRemembered ? result(counter) : unknown(id);
  if (timeout <= timeout.zero()) return pending_;
  const Visit visit(inside_wait_);
  return wait_until_completed(counter, timeout) ? result(counter) : pending_;
}

bool Unit::Impl::wait_until_completed(uint64_t counter, std::chrono::nanoseconds timeout) {
  using Deadline = Waiters::Deadline;
  const Deadline now = std::chrono::steady_clock::now();
  const Deadline deadline = timeout < Deadline::max() - now ? now + timeout : Deadline::max();

  spin_budget::take();
  const bool seen = spin_budget::fits() && spin_until([&] { return ring_.completed() >= counter; },
                                                      std::min(wait_spin_, timeout));
  spin_budget::give();
  return seen || waiters_.park(ring_, counter, deadline);
}

Status Unit::Impl::result(uint64_t counter) const {
  std::optional<Status> status = results_.find(counter);
  return status ? *std::move(status) : unknown(sequence(counter));
}

Status Unit::Impl::unknown(SequenceId id) const {
  if (!issued(id))
    return {StatusCode::kUnknownJob,
            fmt::format("sequence id {:#x} was not issued by unit {}", id, id_.value())};
  return {StatusCode::kUnknownJob,
          fmt::format("sequence id {:#x} is older than the {} results that are kept", id,
                      ResultTable::kRemembered)};
}

void Unit::Impl::close() {
  ring_.close();
  lanes_.withdraw(*this);
  ring_.wait_for_submitters();
  while (ring_.has_head())
    complete(ring_.head(),
             {StatusCode::kCancelled, "the unit was destroyed before the request ran"});
  if (any_callback_.load(std::memory_order_relaxed)) dispatcher_->drain();
  inside_wait_.wait_until_gone();
  lanes_.detach();
  // A lane may keep this object a moment longer; what belongs to the caller ends here.
  for (uint32_t index = 0; index < ring_.slot_count(); ++index) ring_.slot(index).task.reset();
  on_complete_ = nullptr;
  dispatcher_.reset();
}

Unit::Unit(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<std::unique_ptr<Unit>> Unit::create(Lanes& lanes, UnitOptions options) {
  if (options.depth == 0 || options.depth > kMaxDepth)
    return invalid_argument(fmt::format("unit '{}': depth {} is outside 1 to {}", options.name,
                                        options.depth, kMaxDepth));
  if (!options.make_task)
    return invalid_argument(fmt::format("unit '{}' has no task factory", options.name));
  if (lanes.count() == 0)
    return Status(StatusCode::kUnavailable,
                  fmt::format("unit '{}': its lanes have no thread", options.name));
  UnitId id = UnitId::take();
  if (id.value() == 0)
    return Status(StatusCode::kQueueFull, "all 65,535 execution units of the process are in use");
  try {
    const TaskFactory make_task = std::move(options.make_task);
    auto impl = std::make_shared<Impl>(lanes.impl(), std::move(options), std::move(id));
    MILLRACE_RETURN_IF_ERROR(impl->make_tasks(make_task));
    lanes.impl().attach();
    return std::unique_ptr<Unit>(new Unit(std::move(impl)));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for the ring of an execution unit");
  }
}

Unit::~Unit() {
  impl_->close();
}

Result<SequenceId> Unit::claim(Task*& task, bool with_callback) {
  return impl_->claim(task, with_callback);
}

void Unit::publish(SequenceId id, Callback callback) noexcept {
  impl_->publish(counter_of(id), std::move(callback));
}

Status Unit::wait(SequenceId id, std::chrono::nanoseconds timeout) {
  Status status = impl_->wait(id, timeout);
  emit(HookPoint::kWaited, id, static_cast<uint64_t>(status.code()));
  return status;
}

bool Unit::is_completed(SequenceId id) const noexcept {
  return impl_->issued(id) && impl_->ring().completed() >= counter_of(id);
}

SequenceId Unit::last_completed() const noexcept {
  return impl_->sequence(impl_->ring().completed());
}

SequenceId Unit::last_submitted() const noexcept {
  return impl_->sequence(impl_->ring().issued());
}

uint32_t Unit::in_flight() const noexcept {
  return impl_->ring().in_flight();
}

uint32_t Unit::depth() const noexcept {
  return impl_->ring().depth();
}

uint16_t Unit::id() const noexcept {
  return impl_->id();
}

}  // namespace millrace::queue
