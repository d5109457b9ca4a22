// Batcher: collects requests of one model, and runs up to as many frames as the model takes as one
// job (dynamic batching).
//
// A batch waits for further requests, and leaves as soon as it is full, the next request has no
// room in it, its first request has waited for the delay, or a request in it might miss its
// deadline by waiting. Each request keeps its own memory: a job binds its frames one by one, so
// nothing is copied, and a frame has the bits that it has alone. Where requests are joined along
// the leading dimension instead (RowForm), those of a batch are copied into one tensor, and
// "frames" are rows.
//
//   add() -> [pending batch] -> submit -> [running batches] -> the callback of the job -> finish()
//                   |                            |
//                   +---- cancelled or late -----+---------> finish() at once
//
// Every request is finished once, by the thread that takes it from its batch under the mutex. One
// that is cancelled or late after its batch has left is finished at once, while the job goes on for
// the others; the job is cancelled when none is left. When a job of several requests fails by what
// may be the data of one of them, each runs again alone, one after another.
//
// Thread-safe. A thread of the batcher watches the delay and the deadlines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "millrace/job.hpp"
#include "serve/batching/batch_member.h"
#include "serve/batching/job_runner.h"
#include "serve/batching/joined_rows.h"
#include "serve/batching/row_form.h"

namespace millrace::serve {

class Batcher {
 public:
  // `runner` and `rows` must outlive the batcher. A batch has at most `most_frames` frames; with
  // `rows`, its requests are joined along the leading dimension. kResourceExhausted if the system
  // refuses the thread.
  static Result<std::unique_ptr<Batcher>> start(JobRunner& runner, uint32_t most_frames,
                                                std::chrono::nanoseconds delay,
                                                const RowForm* rows = nullptr);
  ~Batcher();  // closes

  // Takes a request of at most `most_frames` frames; finish() will be called, perhaps before this
  // function returns. kClosed or kOutOfMemory: nothing has changed, and it will not be.
  Status add(std::shared_ptr<BatchMember> member);
  // Finishes the request with kCancelled, unless it is finished already.
  void cancel(const BatchMember& member) noexcept;

  // From now on no request waits for others.
  void end_waiting() noexcept;
  // Cancels the requests that wait, and takes none afterwards. Jobs go on. Called by one thread.
  void close() noexcept;

 private:
  struct Entry {
    std::shared_ptr<BatchMember> member;
    bool finished = false;
  };
  struct Batch {
    std::vector<Entry> entries;  // guarded by the mutex of the batcher
    uint32_t frames = 0;
    uint32_t unfinished = 0;
    std::mutex job_mutex;  // the callback may run before the submit returns
    Job job;
    JobSpan span;
    std::shared_ptr<JoinedRows> joined;  // null: the job has the tensors of the requests
    bool cancelled = false;
    std::shared_ptr<Batch> next;  // to be submitted when this one has ended
  };
  using BatchPointer = std::shared_ptr<Batch>;
  using Batches = std::list<BatchPointer>;

  Batcher(JobRunner& runner, uint32_t most_frames, std::chrono::nanoseconds delay,
          const RowForm* rows);

  void run();
  void serve_next(std::unique_lock<std::mutex>& lock);
  BatchPointer take_pending() noexcept;
  Status put(std::shared_ptr<BatchMember> member);
  bool leaves_with(const BatchMember& last) const;
  Deadline next_deadline() const noexcept;
  std::shared_ptr<BatchMember> take_late(Deadline now, BatchPointer& batch) noexcept;

  void submit(BatchPointer batch) noexcept;
  Status try_submit(const BatchPointer& batch);
  struct Load;
  Load load_of(const Batch& batch);
  Status bind(const Load& load, Batch& batch, std::vector<TensorArg>& inputs,
              std::vector<TensorArg>& outputs) const;
  void on_job_end(const BatchPointer& batch, const Status& status) noexcept;
  BatchPointer end(const BatchPointer& batch, const Status& status) noexcept;
  static std::shared_ptr<BatchMember> take_unfinished(const BatchMember& member,
                                                      const Batches& batches,
                                                      BatchPointer& batch) noexcept;
  void leave_pending(const BatchMember& member) noexcept;
  BatchPointer separate(std::vector<Entry>& entries) noexcept;
  static void stop_if_abandoned(Batch& batch, bool abandoned) noexcept;

  JobRunner& runner_;
  const uint32_t most_frames_;
  const RowForm* const rows_;  // null: a job has several frames
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::nanoseconds delay_;
  Batches pending_;  // one at most
  Deadline leaves_at_ = kNoDeadline;
  Batches running_;  // from the moment at which they leave
  Deadline wakes_at_ = kNoDeadline;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace millrace::serve
