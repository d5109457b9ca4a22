#include "runtime/job_table.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"
#include "base/log.h"

namespace millrace::runtime {
namespace {

constexpr size_t kFirstBuckets = 64;

// Made once, so that polling allocates nothing; never destroyed, since threads may wait while the
// process exits.
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

JobTable::JobTable(size_t max_uncollected, SessionJobId first_id)
    : max_uncollected_(max_uncollected), next_id_(first_id), buckets_(kFirstBuckets, nullptr) {}

Job* JobTable::issue(CallbackSequencer::Ticket ticket) {
  const std::lock_guard lock(mutex_);
  make_room();
  Job* job = take_entry();
  while (next_id_ == 0 || find(next_id_) != nullptr) ++next_id_;
  job->id = next_id_++;
  job->ticket = ticket;
  insert(job);
  return job;
}

void JobTable::revoke(Job* job) {
  const std::lock_guard lock(mutex_);
  erase(job);
  if (job->waiters == 0) return recycle(job);
  // Somebody waits who guessed the id.
  job->collected = true;
  job->done.store(true, std::memory_order_release);
  job->finished.notify_all();
}

Job* JobTable::take_entry() {
  Job* job = nullptr;
  if (unused_ == nullptr) {
    job = &storage_.emplace_back();
  } else {
    job = unused_;
    unused_ = job->next;
  }
  job->done.store(false, std::memory_order_relaxed);
  job->collected = false;
  return job;
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
  // Pairs with the acquire of a spinning waiter; everybody else looks under the lock.
  job->done.store(true, std::memory_order_release);
  if (job->waiters != 0) {
    job->finished.notify_all();
    return false;
  }
  append_uncollected(job);
  if (uncollected_ <= max_uncollected_) return false;
  Job* dropped = oldest_;
  remove_uncollected(dropped);
  erase(dropped);
  recycle(dropped);
  return !std::exchange(any_dropped_, true);
}

Status JobTable::wait(SessionJobId id, std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  Job* job = find(id);
  if (job == nullptr) return unknown_job();
  if (job->done.load(std::memory_order_relaxed)) {
    if (job->waiters == 0) remove_uncollected(job);
  } else {
    if (timeout.count() <= 0) return still_pending(job);
    ++job->waiters;
    if (!await(lock, job, timeout)) return still_pending(job);
  }
  return collect(job);
}

// What a wait in vain returns. The lock is held.
Status JobTable::still_pending(const Job* job) {
  emit(HookPoint::kWaited, job->completion.sequence, static_cast<uint64_t>(StatusCode::kPending));
  return pending_job();
}

// Returns whether the job is done. Requirement: this thread counts as one of its waiters, which
// keeps the entry; it no longer does afterwards.
bool JobTable::await(std::unique_lock<std::mutex>& lock, Job* job,
                     std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  lock.unlock();
  queue::spin_budget::take();
  spin_.until([&] { return job->done.load(std::memory_order_acquire); }, timeout);
  queue::spin_budget::give();
  lock.lock();
  job->finished.wait_until(lock, deadline,
                           [&] { return job->done.load(std::memory_order_relaxed); });
  --job->waiters;
  return job->done.load(std::memory_order_relaxed);
}

// Requirement: the job is done and not in the list of uncollected results.
Status JobTable::collect(Job* job) {
  Status status = unknown_job();
  if (!job->collected) {
    status = job->completion.status;
    emit(HookPoint::kWaited, job->completion.sequence, static_cast<uint64_t>(status.code()));
    job->collected = true;
    erase(job);
  }
  if (job->waiters == 0) recycle(job);
  return status;
}

Job** JobTable::bucket_of(SessionJobId id) noexcept {
  return &buckets_[id & (buckets_.size() - 1)];
}

Job* JobTable::find(SessionJobId id) noexcept {
  Job* job = *bucket_of(id);
  while (job != nullptr && job->id != id) job = job->next;
  return job;
}

// Room for one more job in the buckets.
void JobTable::make_room() {
  if (known_ < buckets_.size()) return;
  std::vector<Job*> previous(buckets_.size() * 2, nullptr);
  previous.swap(buckets_);
  known_ = 0;
  for (Job* chain : previous) {
    while (chain != nullptr) {
      Job* moved = chain;
      chain = chain->next;
      insert(moved);
    }
  }
}

void JobTable::insert(Job* job) noexcept {
  Job** bucket = bucket_of(job->id);
  job->next = *bucket;
  *bucket = job;
  ++known_;
}

void JobTable::erase(Job* job) noexcept {
  Job** link = bucket_of(job->id);
  while (*link != job) link = &(*link)->next;
  *link = job->next;
  --known_;
}

void JobTable::recycle(Job* job) noexcept {
  job->completion = {};
  job->next = unused_;
  unused_ = job;
}

void JobTable::append_uncollected(Job* job) noexcept {
  job->older = newest_;
  job->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = job;
  newest_ = job;
  ++uncollected_;
}

void JobTable::remove_uncollected(Job* job) noexcept {
  (job->older != nullptr ? job->older->newer : oldest_) = job->newer;
  (job->newer != nullptr ? job->newer->older : newest_) = job->older;
  --uncollected_;
}

}  // namespace millrace::runtime
