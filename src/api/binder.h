// Binder: from the arguments of a call to the bindings of its jobs, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/model_impl.h"
#include "base/process/thread_spare.h"
#include "base/status.h"
#include "device/device.h"
#include "millrace/unit.hpp"
#include "runtime/jobs/job.h"
#include "runtime/jobs/job_task.h"

namespace millrace::api {

// One call's jobs. Takes its memory from the calling thread and gives it back at the end, so that
// binding allocates nothing in steady state. It is for that thread alone: fill, which is const,
// writes to that memory, too.
class Binder {
 public:
  Binder() noexcept = default;
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // Binds one more job of `model`, which must be loaded on `device`. kInvalidArgument says what
  // does not fit; then the job was not added. kOutOfMemory.
  Status add(const device::Device& device, const Model::Impl* model, const JobArgs& args);

  // Has `task` run that job, and moves its bindings there, with references to the memory. Once for
  // each job, while its arguments are there.
  void fill(runtime::JobTask& task, const Model::Impl& model, size_t index) const noexcept;
  // The same for the job that was added last, if it has run when this object and the arguments end
  // (see JobTask::lend). `task` refers to bindings that add and fill make anew: call neither
  // between that add and this, nor until the job has run.
  void lend(runtime::JobTask& task, const Model::Impl& model) const noexcept;

 private:
  struct Bound {
    const JobArgs* args = nullptr;
    size_t first = 0;  // in tensors
    size_t first_open = 0;
    bool open = false;  // whether the model has open tensors
  };
  struct Storage {
    std::vector<runtime::TensorBinding> tensors;  // without their owners
    std::vector<Bound> jobs;
    std::vector<runtime::OpenTensor> open;  // of the jobs whose model has open tensors
    // Bindings of the job for which bindings() was called last. The object is filled again and
    // again, since g++ clears a new one by a slow instruction.
    runtime::JobBindings bindings;
  };
  // Bindings of the job that was added as number `index`, in the storage: valid until the next
  // call, also one that add or fill makes.
  const runtime::JobBindings& bindings(size_t index) const noexcept;
  void append(std::span<const TensorArg> args);
  void append_open(std::span<const TensorArg> args, const std::vector<TensorInfo>& infos);

  const ThreadSpare<Storage> storage_;
};

}  // namespace millrace::api
