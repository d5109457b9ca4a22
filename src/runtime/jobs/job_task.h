// JobTask: the storage and the work of one job, kept in a cell of a unit and reused. Nothing in it
// belongs to one program: every job brings its executor along.
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
  // Notified when a job has completed: after its sequence was published, so its place is free, and
  // before the threads that wait for it are notified. `job` is the one that was passed to fill().
  // The listener must outlive the unit of the task.
  class Listener {
   public:
    virtual void on_job_completed(Job* job, const queue::Completion& completion) noexcept = 0;
    // Called for a job that converted tensors, before its completion is visible.
    virtual void on_conversions(const BoundaryConversions& conversions) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  // Reserves memory for the bindings of so many tensors; jobs with more make more, once. A profile,
  // if there is one, is of the program of all its jobs.
  explicit JobTask(size_t tensors, Listener* listener = nullptr, JobSync sync = {},
                   std::shared_ptr<Profile> profile = {}, JobMode mode = JobMode::kAdaptive);

  // Copies the bindings. Requirement: they fit the executor's model (Executor::check). `job` is for
  // the listener. When memory runs out the job fails, not the call, since a place that is taken
  // cannot be given back.
  void fill(std::shared_ptr<Executor> executor, const JobBindings& bindings,
            Job* job = nullptr) noexcept;
  // The same, but takes the bindings over: `bindings` refers to `tensors`, inputs and then outputs.
  // Moves the bindings, so no reference count of an owner of their memory changes.
  void fill_taking(std::shared_ptr<Executor> executor, const JobBindings& bindings,
                   std::span<TensorBinding> tensors) noexcept;

  // The same for a request that runs during the call that fills it (queue::Unit::execute): refers
  // to the executor and to the bindings, which the caller keeps until that returns, and counts
  // nothing.
  void lend(Executor& executor, const JobBindings& bindings) noexcept {
    executor_ = &executor;
    if (!prepare(bindings, nullptr)) return;
    inputs_ = bindings.inputs;
    outputs_ = bindings.outputs;
    frames_ = bindings.frames;
  }

  // Frame after frame, until one fails or the job is asked to stop.
  Status run(queue::RunControl& control) noexcept override;
  void write_status(const queue::Completion& completion) noexcept override;
  void on_published(const queue::Completion& completion) noexcept override;
  void release() noexcept override;
  std::string describe(const queue::RunPosition& position) const override;

 private:
  // Everything but executor and tensors; false when there is no memory for it.
  bool prepare(const JobBindings& bindings, Job* job) noexcept {
    job_ = job;
    if (bindings.times != nullptr) [[unlikely]]
      times_ = bindings.times;
    conversions_ = bindings.conversions;
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

  Listener* const listener_;
  const JobSync sync_;
  const std::shared_ptr<Profile> profile_;  // may be null
  const JobMode mode_;
  Job* job_ = nullptr;
  // Null unless the caller wants them. Owned for the same reason as the executor.
  std::shared_ptr<JobTimes> times_;
  // Null unless the caller wants them; written at the completion only.
  BoundaryConversions* conversions_ = nullptr;
  // Conversions of this job. Atomic, since a run that was given up may end at any time.
  std::atomic<uint64_t> converted_tensors_{0}, converted_bytes_{0};
  Executor* executor_ = nullptr;
  uint32_t frames_ = 0;  // 0 when there was no memory for the bindings
  std::span<const TensorBinding> inputs_, outputs_;
  // The objects that the three above refer to, unless the caller lends them: owned, because a run
  // that hangs outlives the session.
  std::shared_ptr<Executor> owned_executor_;
  std::vector<TensorBinding> tensors_;  // the inputs, then the outputs
  JobShapes shapes_;
};

}  // namespace millrace::runtime
