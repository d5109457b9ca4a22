// JobTask: the storage and the work of one job, kept by a slot of a unit and reused.
#pragma once

#include <functional>
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
    virtual void on_job_complete(Job* job, const Status& status) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  JobTask(Executor& executor, Listener& listener);

  // Copies the bindings. Requirement: they fit the model (Executor::check).
  void fill(const JobBindings& bindings, Job* job);

  // Frame after frame, until one fails.
  Status run(queue::LaneId lane) noexcept override;
  void release() noexcept override;

 private:
  Executor& executor_;
  Listener& listener_;
  Job* job_ = nullptr;
  uint32_t frames_ = 0;
  std::vector<TensorBinding> inputs_, outputs_;
  Status status_;
};

}  // namespace millrace::runtime
