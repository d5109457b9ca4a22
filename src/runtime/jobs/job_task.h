// JobTask: the task of a job (queue::Task), which holds its bindings and runs it. A unit reuses its
// tasks from job to job. They are not tied to a program: every job brings its executor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "queue/requests/request.h"
#include "runtime/jobs/executor.h"
#include "runtime/jobs/job.h"
#include "runtime/jobs/job_mode.h"
#include "runtime/jobs/job_shapes.h"
#include "runtime/jobs/job_sync.h"
#include "runtime/loading/profile.h"

namespace millrace::runtime {

struct Job;

class JobTask final : public queue::Task {
 public:
  // Is notified when a job has completed: after its sequence was published, so its place is free,
  // and before waiting threads are notified. `job` is the one that was passed to fill(). The
  // listener must outlive the unit of the task.
  class Listener {
   public:
    virtual void on_job_completed(Job* job, const queue::Completion& completion) noexcept = 0;
    // Called for a job that converted tensors, before its completion is visible.
    virtual void on_conversions(const BoundaryConversions& conversions) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  // Reserves memory for the bindings of `tensors` tensors; it grows for jobs with more. With a
  // profile, all jobs must be of that profile's program.
  explicit JobTask(size_t tensors, Listener* listener = nullptr, JobSync sync = {},
                   std::shared_ptr<Profile> profile = {}, JobMode mode = JobMode::kAdaptive);

  // Copies the bindings. Requirement: they fit the executor's model (Executor::check). `job` is
  // passed to the listener. If memory runs out, the job will fail instead of this call, since its
  // place in the unit is already claimed.
  void fill(std::shared_ptr<Executor> executor, const JobBindings& bindings,
            Job* job = nullptr) noexcept;
  // Like fill(), but moves the bindings, so the reference counts of the owners of their memory do
  // not change. Requirement: the spans in `bindings` refer to `tensors`, which holds the inputs and
  // then the outputs.
  void fill_taking(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                   std::span<TensorBinding> tensors) noexcept;

  // Like fill(), for a request that the calling thread runs itself (queue::Unit::execute). It only
  // refers to the executor and the bindings, without counting references: the caller keeps them
  // until execute() returns.
  void lend(Executor& executor, const JobBindings& bindings) noexcept {
    executor_ = &executor;
    if (!prepare(bindings, nullptr)) return;
    inputs_ = bindings.inputs;
    outputs_ = bindings.outputs;
    frames_ = bindings.frames;
  }

  // Runs the frames in order, until one fails or a stop is requested.
  Status run(queue::RunControl& control) noexcept override;
  void write_status(const queue::Completion& completion) noexcept override;
  void on_published(const queue::Completion& completion) noexcept override;
  void release() noexcept override;
  std::string describe(const queue::RunPosition& position) const override;

 private:
  // Sets all members except executor and tensors; returns false if there is not enough memory.
  bool prepare(const JobBindings& bindings, Job* job) noexcept {
    job_ = job;
    if (bindings.times != nullptr) [[unlikely]]
      times_ = bindings.times;
    conversions_ = bindings.conversions;
    span_ = bindings.span;
    if (span_ != nullptr) [[unlikely]]
      began_ns_.store(0, std::memory_order_relaxed);
    converted_tensors_.store(0, std::memory_order_relaxed);
    frames_ = 0;
    shapes_.clear();
    try {
      shapes_.fill(bindings);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  bool own(std::shared_ptr<Executor> executor, const JobBindings& bindings, Job* job) noexcept;
  void refer_to_own(const JobBindings& bindings) noexcept;
  Status run_bound(queue::RunControl& control, BoundaryConversions& conversions) noexcept;
  void report_conversions() noexcept;
  void report_span() noexcept;

  Listener* const listener_;
  const JobSync sync_;
  const std::shared_ptr<Profile> profile_;  // may be null
  const JobMode mode_;
  Job* job_ = nullptr;
  // Null unless the caller wants them. Owned for the same reason as the executor.
  std::shared_ptr<JobTimes> times_;
  // The caller's memory for them, written at the completion only; may be null.
  BoundaryConversions* conversions_ = nullptr;
  // The same, for the time of the run; and when it began, which is atomic for the reason below.
  JobSpan* span_ = nullptr;
  std::atomic<int64_t> began_ns_{0};
  // Conversions of this job. Atomic, since a run that was given up may end at any time.
  std::atomic<uint64_t> converted_tensors_{0}, converted_bytes_{0};
  Executor* executor_ = nullptr;
  uint32_t frames_ = 0;  // 0 if there was no memory for the bindings
  std::span<const TensorBinding> inputs_, outputs_;
  // The objects that executor_, inputs_ and outputs_ refer to, unless the caller lends them. The
  // task owns them because a run that hangs may outlive the session.
  std::shared_ptr<Executor> owned_executor_;
  std::vector<TensorBinding> tensors_;  // the inputs, then the outputs
  JobShapes shapes_;
};

}  // namespace millrace::runtime
