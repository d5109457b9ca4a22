#include "serve/batching/batcher.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/process/thread.h"

namespace millrace::serve {
namespace {

using SteadyClock = std::chrono::steady_clock;

const char* const kGone = "the client has closed its connection";

// Whether the data of one request may have failed the job of all of them.
bool may_be_due_to_one(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
    case StatusCode::kDeviceFailed:
    case StatusCode::kInternal:
      return true;
    default:
      return false;
  }
}

Status out_of_memory() {
  return {StatusCode::kOutOfMemory, "there is not enough memory for another job"};
}

}  // namespace

Batcher::Batcher(JobRunner& runner, uint32_t most_frames, std::chrono::nanoseconds delay,
                 const RowForm* rows)
    : runner_(runner), most_frames_(most_frames), rows_(rows), delay_(delay) {}

Result<std::unique_ptr<Batcher>> Batcher::start(JobRunner& runner, uint32_t most_frames,
                                                std::chrono::nanoseconds delay,
                                                const RowForm* rows) {
  std::unique_ptr<Batcher> batcher(new Batcher(runner, most_frames, delay, rows));
  MILLRACE_ASSIGN_OR_RETURN(batcher->thread_,
                            start_thread("millrace-batch", [own = batcher.get()] { own->run(); }));
  return batcher;
}

Batcher::~Batcher() {
  close();
}

Status Batcher::add(std::shared_ptr<BatchMember> member) {
  BatchPointer full, complete;
  Status status;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {StatusCode::kClosed, "the model takes no more requests"};
    const BatchMember& last = *member;
    if (!pending_.empty() && pending_.front()->frames + last.frames() > most_frames_)
      full = take_pending();
    status = put(std::move(member));
    if (status.ok() && leaves_with(last)) complete = take_pending();
    if (std::min(leaves_at_, last.deadline()) < wakes_at_) changed_.notify_one();
  }
  if (full) submit(full);
  if (complete) submit(complete);
  return status;
}

// Requirement for this function and the next five: mutex_ is held.
Status Batcher::put(std::shared_ptr<BatchMember> member) {
  const bool is_first = pending_.empty();
  try {
    if (is_first) pending_.push_back(std::make_shared<Batch>());
    Batch& batch = *pending_.front();
    const uint32_t frames = member->frames();
    batch.entries.push_back({std::move(member)});
    batch.frames += frames;
    ++batch.unfinished;
  } catch (const std::bad_alloc&) {
    if (is_first) pending_.clear();
    return out_of_memory();
  }
  if (is_first) leaves_at_ = SteadyClock::now() + delay_;
  return {};
}

// Whether the batch leaves now that this request is in it.
bool Batcher::leaves_with(const BatchMember& last) const {
  if (pending_.front()->frames >= most_frames_ || delay_.count() == 0) return true;
  if (last.deadline() == kNoDeadline) return false;
  return last.deadline() - runner_.mean_run() < leaves_at_;
}

Batcher::BatchPointer Batcher::take_pending() noexcept {
  leaves_at_ = kNoDeadline;
  running_.splice(running_.end(), pending_);
  return running_.back();
}

Deadline Batcher::next_deadline() const noexcept {
  Deadline next = kNoDeadline;
  for (const BatchPointer& batch : running_)
    for (const Entry& entry : batch->entries)
      if (!entry.finished) next = std::min(next, entry.member->deadline());
  return next;
}

std::shared_ptr<BatchMember> Batcher::take_late(Deadline now, BatchPointer& batch) noexcept {
  for (const BatchPointer& running : running_) {
    for (Entry& entry : running->entries) {
      if (entry.finished || entry.member->deadline() > now) continue;
      entry.finished = true;
      --running->unfinished;
      batch = running;
      return entry.member;
    }
  }
  return nullptr;
}

void Batcher::run() {
  std::unique_lock lock(mutex_);
  while (!closed_) serve_next(lock);
}

// Ends one wait: of the pending batch, of a request that is late, or for one of both.
void Batcher::serve_next(std::unique_lock<std::mutex>& lock) {
  const Deadline now = SteadyClock::now();
  BatchPointer batch;
  if (leaves_at_ <= now) batch = take_pending();
  if (batch) {
    lock.unlock();
    submit(batch);
    lock.lock();
    return;
  }
  if (const auto late = take_late(now, batch)) {
    const bool abandoned = batch->unfinished == 0;
    lock.unlock();
    stop_if_abandoned(*batch, abandoned);
    late->finish({StatusCode::kDeadlineExceeded, "the deadline of the request has passed"});
    lock.lock();
    return;
  }
  wakes_at_ = std::min(leaves_at_, next_deadline());
  if (wakes_at_ == kNoDeadline)
    changed_.wait(lock);
  else
    changed_.wait_until(lock, wakes_at_);
}

void Batcher::submit(BatchPointer batch) noexcept {
  while (batch) {
    Status status;
    try {
      status = try_submit(batch);
    } catch (const std::bad_alloc&) {
      status = out_of_memory();
    }
    if (status.ok()) return;
    batch = end(batch, status);
  }
}

// The job of a batch serves these: the requests that are not finished.
struct Batcher::Load {
  JoinedRows::Members members;
  uint32_t frames = 0;
  Deadline deadline = Deadline::min();
};

Batcher::Load Batcher::load_of(const Batch& batch) {
  Load load;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : batch.entries) {
    if (entry.finished) continue;
    load.members.push_back(entry.member);
    load.frames += entry.member->frames();
    load.deadline = std::max(load.deadline, entry.member->deadline());
  }
  return load;
}

// A single request needs no copy of its rows.
Status Batcher::bind(const Load& load, Batch& batch, std::vector<TensorArg>& inputs,
                     std::vector<TensorArg>& outputs) const {
  if (rows_ == nullptr || load.members.size() == 1) {
    for (const auto& member : load.members) member->bind(inputs, outputs);
    return {};
  }
  batch.joined = JoinedRows::of(*rows_, load.members);
  if (!batch.joined) return out_of_memory();
  batch.joined->bind(inputs, outputs);
  return {};
}

Status Batcher::try_submit(const BatchPointer& batch) {
  std::vector<TensorArg> inputs, outputs;
  const Load load = load_of(*batch);
  if (load.frames == 0) return {StatusCode::kCancelled, kGone};
  MILLRACE_RETURN_IF_ERROR(bind(load, *batch, inputs, outputs));
  JobArgs args = {.frames = rows_ == nullptr ? load.frames : 1, .deadline = load.deadline};
  const std::lock_guard lock(batch->job_mutex);
  if (batch->cancelled) return {StatusCode::kCancelled, kGone};
  args.inputs = inputs;
  args.outputs = outputs;
  args.span = &batch->span;
  args.callback = [this, batch](JobId, const Status& status) { on_job_end(batch, status); };
  MILLRACE_ASSIGN_OR_RETURN(batch->job, runner_.submit(args, load.frames));
  return {};
}

void Batcher::on_job_end(const BatchPointer& batch, const Status& status) noexcept {
  runner_.job_ended();
  {
    const std::lock_guard lock(batch->job_mutex);
    batch->job.detach();
  }
  Status outcome = status;
  if (batch->joined && status.ok()) outcome = batch->joined->give_back();
  if (batch->joined && status.code() == StatusCode::kHung) JoinedRows::keep_for_good(batch->joined);
  submit(end(batch, outcome));
}

// Returns the batch to be submitted next, if there is one.
Batcher::BatchPointer Batcher::end(const BatchPointer& batch, const Status& status) noexcept {
  std::vector<Entry> entries;
  BatchPointer next;
  {
    const std::lock_guard lock(mutex_);
    std::erase(running_, batch);
    entries = std::move(batch->entries);
    next = std::move(batch->next);
    if (entries.size() > 1 && may_be_due_to_one(status.code())) next = separate(entries);
  }
  for (const Entry& entry : entries) {
    // A joined job has copies of the tensors, which JoinedRows keeps.
    if (status.code() == StatusCode::kHung && !batch->joined) entry.member->keep_for_good();
    if (entry.finished) continue;
    entry.member->ran(batch->span);
    entry.member->finish(status);
  }
  return next;
}

// Requirement: mutex_ is held. Moves each request to a running batch of its own, so that it can be
// cancelled meanwhile. Each is submitted when the one before it has ended, so that together they
// need no more room in the queue than their first job. Those for which there is no memory stay.
Batcher::BatchPointer Batcher::separate(std::vector<Entry>& entries) noexcept {
  BatchPointer first, last;
  try {
    for (Entry& entry : entries) {
      if (entry.finished) continue;
      auto batch = std::make_shared<Batch>();
      batch->entries.push_back(entry);
      batch->frames = entry.member->frames();
      batch->unfinished = 1;
      running_.push_back(batch);
      (last ? last->next : first) = batch;
      last = std::move(batch);
      entry.finished = true;
    }
  } catch (const std::bad_alloc&) {
    return first;
  }
  return first;
}

// Requirement: mutex_ is held. Marks the request as finished; null if it is not in these batches.
std::shared_ptr<BatchMember> Batcher::take_unfinished(const BatchMember& member,
                                                      const Batches& batches,
                                                      BatchPointer& batch) noexcept {
  for (const BatchPointer& other : batches) {
    for (Entry& entry : other->entries) {
      if (entry.member.get() != &member || entry.finished) continue;
      entry.finished = true;
      --other->unfinished;
      batch = other;
      return entry.member;
    }
  }
  return nullptr;
}

// Requirement: mutex_ is held. Makes room for another request in the batch that waits.
void Batcher::leave_pending(const BatchMember& member) noexcept {
  Batch& batch = *pending_.front();
  std::erase_if(batch.entries, [](const Entry& entry) { return entry.finished; });
  batch.frames -= member.frames();
  if (!batch.entries.empty()) return;
  pending_.clear();
  leaves_at_ = kNoDeadline;
}

void Batcher::stop_if_abandoned(Batch& batch, bool abandoned) noexcept {
  if (!abandoned) return;
  const std::lock_guard lock(batch.job_mutex);
  batch.cancelled = true;
  // The outcome is what the callback reports.
  if (batch.job) static_cast<void>(batch.job.cancel(std::chrono::nanoseconds(0)));
}

void Batcher::cancel(const BatchMember& member) noexcept {
  BatchPointer batch;
  std::shared_ptr<BatchMember> cancelled;
  bool abandoned = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = take_unfinished(member, pending_, batch);
    if (cancelled)
      leave_pending(member);
    else
      cancelled = take_unfinished(member, running_, batch);
    if (!cancelled) return;
    abandoned = batch->unfinished == 0;
  }
  stop_if_abandoned(*batch, abandoned);
  cancelled->finish({StatusCode::kCancelled, kGone});
}

void Batcher::end_waiting() noexcept {
  const std::lock_guard lock(mutex_);
  delay_ = std::chrono::nanoseconds(0);
  if (pending_.empty()) return;
  leaves_at_ = Deadline::min();
  changed_.notify_one();
}

void Batcher::close() noexcept {
  BatchPointer pending;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (!pending_.empty()) pending = take_pending();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (pending) submit(end(pending, {StatusCode::kCancelled, "the model is being closed"}));
}

}  // namespace millrace::serve
