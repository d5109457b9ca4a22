// The construction of units, and the public functions, which forward to Unit::Impl. In a forked
// child, functions that may wait or change the unit fail instead.
#include "queue/units/unit.h"

#include <fmt/format.h>

#include <new>

#include "base/contained.h"
#include "base/hooks.h"
#include "base/process/forked_child.h"
#include "queue/units/unit_impl.h"

namespace millrace::queue {

Unit::Impl::Impl(std::shared_ptr<Lanes::Impl> lanes, std::unique_ptr<Lanes> own_lanes,
                 UnitOptions options, UnitId id)
    : id_(std::move(id)),
      options_(std::move(options)),
      own_lanes_(std::move(own_lanes)),
      has_own_lanes_(own_lanes_ != nullptr),
      lanes_(std::move(lanes)),
      strand_(std::make_shared<Strand>(fmt::format("unit {} '{}'", id_.value(), options_.name))),
      monitor_(Monitor::instance()),
      full_(StatusCode::kQueueFull,
            fmt::format("unit {} '{}' is full: {} requests are not completed", id_.value(),
                        options_.name, options_.depth)),
      pending_(StatusCode::kPending, "the request is not completed yet"),
      dropped_(StatusCode::kDropped,
               fmt::format("dropped before it started: unit '{}' was full and newer work came",
                           options_.name)),
      shed_(StatusCode::kDeadlineExceeded,
            "shed before it started: it was not expected to finish by its deadline"),
      no_lane_(StatusCode::kUnitDegraded,
               "every lane of the device was given up because its request hung"),
      closed_status_(StatusCode::kClosed,
                     fmt::format("unit {} '{}' is closed", id_.value(), options_.name)),
      ring_(options_.depth),
      results_(options_.depth),
      callers_help_(options_.caller_helps == CallerHelps::kAuto && !has_own_lanes_ &&
                    options_.watchdog.count() <= 0 && options_.acceptance_order == nullptr),
      spin_(options_.wait_spin) {}

Status Unit::Impl::make_tasks() {
  for (uint64_t index = 0; index < ring_.cell_count(); ++index) {
    std::unique_ptr<Task>& task = ring_.request(index).task;
    task = options_.make_task();
    if (task == nullptr) return invalid_argument("the task factory of a unit returned no task");
  }
  running_ = make_running();
  if (!running_) throw std::bad_alloc();  // the only cause, since the factory has made tasks above
  return {};
}

void Unit::Impl::attach() {
  lanes_->attach();
  attached_ = true;
  if (callers_help_.load(std::memory_order_relaxed)) lanes_->prepare_checks();
}

Status Unit::Impl::expect_waits() {
  const std::lock_guard lock(watch_mutex_);
  if (closed_.load(std::memory_order_seq_cst)) return closed_status_;
  if (expects_waits_ || has_own_lanes_) return {};
  MILLRACE_RETURN_IF_ERROR(lanes_->add_waiting_unit());
  expects_waits_ = true;
  callers_help_.store(false, std::memory_order_relaxed);
  return {};
}

Status Unit::check(const UnitOptions& options) {
  if (options.depth == 0 || options.depth > kMaxDepth)
    return invalid_argument(fmt::format("unit '{}': depth {} is outside 1 to {}", options.name,
                                        options.depth, kMaxDepth));
  if (!options.make_task)
    return invalid_argument(fmt::format("unit '{}' has no task factory", options.name));
  return {};
}

Unit::Unit(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<std::unique_ptr<Unit>> Unit::create(Lanes& lanes, UnitOptions options) {
  const auto make = [&]() -> Result<std::unique_ptr<Unit>> {
    MILLRACE_RETURN_IF_ERROR(check(options));
    if (!options.own_thread)
      MILLRACE_RETURN_IF_ERROR(
          lanes.fill_up().with_context(fmt::format("unit '{}'", options.name)));
    UnitId id = UnitId::take();
    if (id.value() == 0)
      return Status(
          StatusCode::kResourceExhausted,
          "all 65,535 ids of execution units are in use in this process: destroy some units");
    std::unique_ptr<Lanes> own;
    if (options.own_thread)
      own = std::make_unique<Lanes>(
          LanesOptions{.count = 1, .lazy = true, .thread_name = options.thread_name});
    const std::shared_ptr<Lanes::Impl> used = own ? own->impl() : lanes.impl();
    auto impl = std::make_shared<Impl>(used, std::move(own), std::move(options), std::move(id));
    MILLRACE_RETURN_IF_ERROR(impl->make_tasks());
    std::unique_ptr<Unit> unit(new Unit(std::move(impl)));
    unit->impl_->attach();
    return unit;
  };
  return contained(make, "no memory for the ring of an execution unit");
}

Unit::~Unit() {
  if (is_forked_child())
    never_destroy(impl_);
  else
    impl_->close();
}

void Unit::close() {
  if (!is_forked_child()) impl_->close();
}

void Unit::begin_close() noexcept {
  if (!is_forked_child()) impl_->begin_close();
}

Status Unit::expect_waits() {
  if (is_forked_child()) return forked_status();
  return impl_->expect_waits();
}

Result<SequenceId> Unit::claim(SubmitOptions& options, PreparedCall& callback, Patience patience,
                               Deadline limit) {
  if (is_forked_child()) return forked_status();
  return impl_->claim(options, callback, patience, limit);
}

Result<SubmittedRange> Unit::claim_n(uint32_t count, Deadline deadline) {
  if (is_forked_child()) return forked_status();
  const Result<SequenceId> first = impl_->claim_n(count, deadline);
  if (!first.ok()) return first.status();
  return SubmittedRange{*first, count};
}

Task& Unit::task(SequenceId id) noexcept {
  return impl_->task(counter_of(id));
}

Task& Unit::idle_task() noexcept {
  return impl_->idle_task();
}

void Unit::publish(SequenceId id, PreparedCall&& callback, Deadline deadline) noexcept {
  impl_->publish(counter_of(id), std::move(callback), deadline);
}

void Unit::publish_n(const SubmittedRange& range, Deadline deadline) noexcept {
  impl_->publish_n(counter_of(range.first), range.count, deadline);
}

bool Unit::callers_may_run(std::chrono::nanoseconds longest) const noexcept {
  return impl_->callers_may_run(longest.count());
}

std::optional<Unit::InlineRun> Unit::begin_inline() {
  if (is_forked_child()) return std::nullopt;  // submitting, which follows, returns the error
  return impl_->begin_inline();
}

Status Unit::run_inline(const InlineRun& run) noexcept {
  return impl_->run_inline(run);
}

Status Unit::wait(SequenceId id, std::chrono::nanoseconds timeout) {
  if (is_forked_child()) return forked_status();
  emit(HookPoint::kWaitBegan, id);
  Status status = impl_->wait(id, timeout);
  emit(HookPoint::kWaited, id, static_cast<uint64_t>(status.code()));
  return status;
}

bool Unit::is_completed(SequenceId id) const noexcept {
  return impl_->issued(id) && impl_->is_completed(counter_of(id));
}

SequenceId Unit::last_completed() const noexcept {
  return impl_->sequence(impl_->ring().completed());
}

SequenceId Unit::last_submitted() const noexcept {
  return impl_->sequence(impl_->ring().issued());
}

Result<CancelOutcome> Unit::cancel(SequenceId id, std::chrono::nanoseconds timeout) {
  if (is_forked_child()) return forked_status();
  return impl_->cancel(id, timeout);
}

Status Unit::notify_fd(SequenceId id, int fd, uint8_t slot) {
  if (is_forked_child()) return forked_status();
  return impl_->notify_fd(id, fd, slot);
}

Status Unit::notify_each_fd(int fd) {
  if (is_forked_child()) return forked_status();
  return impl_->notify_each_fd(fd);
}

Status Unit::wait_free(uint32_t k, std::chrono::nanoseconds timeout) {
  if (is_forked_child()) return forked_status();
  return impl_->wait_free(k, timeout);
}

Status Unit::notify_free_fd(uint32_t k, int fd) {
  if (is_forked_child()) return forked_status();
  return impl_->notify_free_fd(k, fd);
}

uint32_t Unit::in_flight() const noexcept {
  return impl_->ring().in_flight();
}

bool Unit::has_room() const noexcept {
  return impl_->ring().has_room();
}

uint32_t Unit::depth() const noexcept {
  return impl_->ring().depth();
}

uint16_t Unit::id() const noexcept {
  return impl_->id();
}

UnitState Unit::state() const noexcept {
  return impl_->state();
}

Status Unit::failure() const {
  if (is_forked_child()) return forked_status();
  return impl_->failure();
}

uint32_t Unit::generation() const noexcept {
  return impl_->generation();
}

UnitStatistics Unit::statistics() const noexcept {
  return impl_->statistics();
}

Status Unit::reset() {
  if (is_forked_child()) return forked_status();
  return impl_->reset();
}

}  // namespace millrace::queue
