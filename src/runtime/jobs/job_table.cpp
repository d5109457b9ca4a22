// The states of a job are guarded by one mutex. A waiting thread first spins on the job's `done`
// without the mutex; counted as a waiter, it keeps the entry from being reused.
#include "runtime/jobs/job_table.h"

#include <utility>

#include "base/cancellation.h"
#include "base/hooks.h"
#include "base/log.h"

namespace millrace::runtime {
namespace {

// Created once, so that polling allocates nothing, and never destroyed, since threads may wait
// while the process exits.
const Status& unknown_job() {
  static const Status* const made = new Status(
      StatusCode::kInvalidJobId, "no such job: never issued, already collected, or too old");
  return *made;
}

const Status& pending_job() {
  static const Status* const made =
      new Status(StatusCode::kPending, "the job has not finished yet");
  return *made;
}

}  // namespace

JobTable::JobTable(size_t max_uncollected, JobIds ids)
    : max_uncollected_(max_uncollected),
      id_step_(ids.step),
      next_id_(ids.first),
      buckets_(std::make_unique<ById::bucket_type[]>(bucket_count_)),
      by_id_(ById::bucket_traits(buckets_.get(), bucket_count_)) {}

Job* JobTable::reserve() {
  const std::lock_guard lock(mutex_);
  make_room();
  if (unused_.empty()) return &storage_.emplace_back();
  Job* job = &unused_.front();
  unused_.pop_front();
  return job;
}

void JobTable::release(Job* reserved) noexcept {
  const std::lock_guard lock(mutex_);
  recycle(reserved);
}

void JobTable::issue(Job* reserved, CallbackSequencer::Ticket ticket) noexcept {
  const std::lock_guard lock(mutex_);
  while (next_id_ == 0 || find(next_id_) != nullptr) next_id_ += id_step_;
  reserved->id = next_id_;
  next_id_ += id_step_;
  reserved->ticket = ticket;
  reserved->done.store(false, std::memory_order_relaxed);
  reserved->collected = false;
  by_id_.insert(*reserved);
}

void JobTable::note_sequence(SessionJobId id, queue::SequenceId sequence) {
  const std::lock_guard lock(mutex_);
  if (Job* job = find(id); job != nullptr) job->completion.sequence = sequence;
}

void JobTable::log_dropped() {
  log(LogLevel::kWarning, "runtime",
      "results of jobs are not collected: only the last ones are kept, older ones are dropped");
}

bool JobTable::publish(Job* job, const queue::Completion& completion) {
  const std::lock_guard lock(mutex_);
  job->completion = completion;
  // Release pairs with the acquire of a spinning waiter; all other threads read it under the lock.
  job->done.store(true, std::memory_order_release);
  if (job->waiters != 0) {
    job->finished.notify_all();
    return false;
  }
  uncollected_.push_back(*job);
  if (uncollected_.size() <= max_uncollected_) return false;
  Job& dropped = uncollected_.front();
  uncollected_.pop_front();
  by_id_.erase(by_id_.iterator_to(dropped));
  recycle(&dropped);
  return !std::exchange(any_dropped_, true);
}

Status JobTable::wait(SessionJobId id, std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  Job* job = find(id);
  if (job == nullptr) return unknown_job();
  emit(HookPoint::kWaitBegan, job->completion.sequence);
  if (job->done.load(std::memory_order_relaxed)) {
    if (job->waiters == 0) uncollected_.erase(uncollected_.iterator_to(*job));
  } else {
    if (timeout.count() <= 0) return still_pending(job);
    ++job->waiters;
    if (!await(lock, job, timeout)) return still_pending(job);
  }
  return collect(job);
}

// Returns the status of a wait that ends before the job. Requirement: mutex_ is held.
Status JobTable::still_pending(const Job* job) {
  emit(HookPoint::kWaited, job->completion.sequence, static_cast<uint64_t>(StatusCode::kPending));
  return pending_job();
}

// Runs the job on this thread if its unit allows that, and otherwise waits, spinning first; returns
// whether it is done. Requirement: this thread is counted in job->waiters, which keeps the entry.
// It is no longer counted afterwards.
bool JobTable::await(std::unique_lock<std::mutex>& lock, Job* job,
                     std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  lock.unlock();
  if (job->unit != nullptr) job->unit->help(job->done, timeout);
  queue::spin_budget::take();
  spin_.until([&] { return job->done.load(std::memory_order_acquire); }, timeout);
  queue::spin_budget::give();
  lock.lock();
  const CancellationOff whole;
  job->finished.wait_until(lock, deadline,
                           [&] { return job->done.load(std::memory_order_relaxed); });
  --job->waiters;
  return job->done.load(std::memory_order_relaxed);
}

// Returns the job's result if no other waiter has collected it, and recycles the entry after the
// last waiter. Requirement: the job is done and not in the list of uncollected results.
Status JobTable::collect(Job* job) {
  Status status = unknown_job();
  if (!job->collected) {
    status = job->completion.status;
    emit(HookPoint::kWaited, job->completion.sequence, static_cast<uint64_t>(status.code()));
    job->collected = true;
    by_id_.erase(by_id_.iterator_to(*job));
  }
  if (job->waiters == 0) recycle(job);
  return status;
}

Job* JobTable::find(SessionJobId id) noexcept {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &*found;
}

// Doubles the number of buckets if another job would exceed one job per bucket on average.
void JobTable::make_room() {
  if (by_id_.size() < bucket_count_) return;
  const size_t count = bucket_count_ * 2;
  Buckets more = std::make_unique<ById::bucket_type[]>(count);
  by_id_.rehash(ById::bucket_traits(more.get(), count));
  buckets_ = std::move(more);
  bucket_count_ = count;
}

void JobTable::recycle(Job* job) noexcept {
  job->completion = {};
  unused_.push_front(*job);
}

}  // namespace millrace::runtime
