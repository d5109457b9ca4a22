// JobTask: the storage and the work of one job, kept by a slot of a unit and reused.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "queue/request.h"
#include "runtime/executor.h"
#include "runtime/job_table.h"
#include "runtime/session.h"

namespace millrace::runtime {

class JobTask final : public queue::Task {
 public:
  // Told when a job has completed and its bindings are dropped.
  class Listener {
   public:
    virtual void on_job_complete(Job* job, const queue::Completion& completion) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  // `last` is what the unit of this task completed last; written by the unit's listener, and so
  // about this task's own request when release() is called.
  JobTask(Executor& executor, Listener& listener, std::shared_ptr<const queue::Completion> last);

  // Copies the bindings into memory reserved for them. Requirement: they fit the model
  // (Executor::check).
  void fill(const JobBindings& bindings, Job* job) noexcept;

  // Frame after frame, until one fails.
  Status run(queue::LaneId lane) noexcept override;
  void release() noexcept override;

 private:
  Executor& executor_;
  Listener& listener_;
  const std::shared_ptr<const queue::Completion> last_;
  Job* job_ = nullptr;
  uint32_t frames_ = 0;
  std::vector<TensorBinding> inputs_, outputs_;
};

}  // namespace millrace::runtime
