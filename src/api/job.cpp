// A Job refers to its unit and to a sequence id; waiting and cancelling are those of queue::Unit.
// `collected_` ensures that only one caller gets the result.
#include "millrace/job.hpp"

#include <boost/container/small_vector.hpp>
#include <new>
#include <utility>

#include "api/unit_core.h"
#include "base/contained.h"
#include "base/never_destroyed.h"
#include "base/polls.h"
#include "base/status.h"
#include "check/check.h"
#include "queue/units/awaitable.h"
#include "queue/units/wait_set.h"

namespace millrace {
namespace {

using queue::UnitRequest;
using std::chrono::nanoseconds;

// The number of jobs up to which wait_any() and wait_all() allocate nothing.
constexpr size_t kUsualJobs = 16;

// Created once, so that calls allocate nothing, and never destroyed, since threads may call while
// the process exits.
const Status& no_job() {
  static NeverDestroyed<Status> made(StatusCode::kInvalidJobId,
                                     "no such job: the handle is empty or was collected");
  return made.get();
}

queue::CompletionAwaiter& waiter_in(std::byte* storage) noexcept {
  return *std::launder(reinterpret_cast<queue::CompletionAwaiter*>(storage));
}

}  // namespace

Job::Job(std::shared_ptr<api::UnitCore> unit, JobId id) noexcept
    : unit_(std::move(unit)), id_(id) {}

Job::Job(Job&& other) noexcept
    : unit_(std::move(other.unit_)),
      id_(std::exchange(other.id_, 0)),
      collected_(other.collected_.load(std::memory_order_relaxed)) {}

Job& Job::operator=(Job&& other) noexcept {
  if (this == &other) return *this;
  finish();
  unit_ = std::move(other.unit_);
  id_ = std::exchange(other.id_, 0);
  collected_.store(other.collected_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return *this;
}

Job::~Job() {
  finish();
}

void Job::finish() noexcept {
  if (!to_collect()) return;
  if (check::on()) [[unlikely]]
    check::note_discarded(id_);
  static_cast<void>(unit_->unit().wait(id_, nanoseconds::max()));
}

// Returns the status to the first caller only. Several threads may have received it from the unit.
Status Job::collect(const Status& status) noexcept {
  return collected_.exchange(true) ? no_job() : status;
}

Status Job::wait(nanoseconds timeout) {
  if (!to_collect()) {
    if (id_ != 0 && check::on()) [[unlikely]]
      check::note_second_wait(id_);
    return no_job();
  }
  const Status status = unit_->unit().wait(id_, timeout);
  const bool is_final =
      status.code() != StatusCode::kPending && status.code() != StatusCode::kForked;
  return is_final ? collect(status) : status;
}

Status Job::wait() {
  return wait(nanoseconds::max());
}

bool Job::is_completed() const noexcept {
  const bool completed = !to_collect() || unit_->unit().is_completed(id_);
  if (id_ != 0) note_poll(id_, completed);
  if (!completed && check::on()) [[unlikely]]
    check::note_poll_of_pending();
  return completed;
}

Result<CancelOutcome> Job::cancel(nanoseconds timeout) {
  if (!to_collect()) return no_job();
  return unit_->unit().cancel(id_, timeout);
}

Status Job::notify_fd(int fd) {
  if (!to_collect()) return no_job();
  Status status = unit_->unit().notify_fd(id_, fd);
  if (check::on() && status.ok() && fd >= 0) [[unlikely]]
    check::note_asked(id_);
  return status;
}

// A program that detaches a completed job has learned of the completion before, as by polling.
void Job::detach() noexcept {
  if (check::on() && to_collect()) [[unlikely]] {
    if (unit_->unit().is_completed(id_))
      check::note_asked(id_);
    else
      check::note_detached(id_);
  }
  id_ = 0;
  unit_.reset();
}

Job::Awaiter Job::operator co_await() noexcept {
  return Awaiter(*this);
}

Job::Awaiter::Awaiter(Job& job) noexcept : job_(job), waits_(job.to_collect()) {
  static_assert(sizeof(queue::CompletionAwaiter) <= kStorageBytes &&
                alignof(queue::CompletionAwaiter) <= alignof(std::max_align_t));
  if (waits_) new (storage_) queue::CompletionAwaiter(job_.unit_->unit(), job_.id_);
}

Job::Awaiter::~Awaiter() {
  if (waits_) waiter_in(storage_).~CompletionAwaiter();
}

bool Job::Awaiter::await_ready() noexcept {
  return !waits_ || waiter_in(storage_).await_ready();
}

bool Job::Awaiter::await_suspend(std::coroutine_handle<> coroutine) {
  return waiter_in(storage_).await_suspend(coroutine);
}

Status Job::Awaiter::await_resume() {
  if (check::on() && waits_) [[unlikely]]
    check::note_asked(job_.id_);
  return waits_ ? job_.collect(waiter_in(storage_).await_resume()) : no_job();
}

struct Job::RequestList {
  boost::container::small_vector<UnitRequest, kUsualJobs> requests;
};

// Adds the requests of the jobs to `list`. Fails if one has no result to collect.
Status Job::requests_of(std::span<Job* const> jobs, RequestList& list) {
  if (jobs.empty()) return invalid_argument("there is no job to wait for");
  for (Job* const job : jobs) {
    if (job == nullptr) return invalid_argument("a job to wait for is a null pointer");
    if (!job->to_collect()) return no_job();
    list.requests.push_back({&job->unit_->unit(), job->id_});
  }
  return {};
}

Result<size_t> wait_any(std::span<Job* const> jobs, nanoseconds timeout) {
  return contained([&]() -> Result<size_t> {
    Job::RequestList list;
    MILLRACE_RETURN_IF_ERROR(Job::requests_of(jobs, list));
    return queue::wait_any({list.requests.data(), list.requests.size()}, timeout);
  });
}

Status wait_all(std::span<Job* const> jobs, nanoseconds timeout) {
  return contained([&]() -> Status {
    Job::RequestList list;
    MILLRACE_RETURN_IF_ERROR(Job::requests_of(jobs, list));
    return queue::wait_all({list.requests.data(), list.requests.size()}, timeout);
  });
}

}  // namespace millrace
