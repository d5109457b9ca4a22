// Binder: checks the arguments of a call (JobArgs) and converts them to the bindings of its jobs.
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

// The jobs of one call. It uses memory that the calling thread keeps from call to call, so binding
// allocates nothing in steady state. Not thread-safe; even fill(), which is const, writes to that
// memory.
class Binder {
 public:
  Binder() noexcept = default;
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // Binds one more job of `model`, which must be loaded on `device`. kInvalidArgument, with the
  // reason, if the arguments do not fit the model; then the job must not be filled. kOutOfMemory.
  Status add(const device::Device& device, const Model::Impl* model, const JobArgs& args);

  // Fills `task` with the job that was added as number `index`: moves its bindings there, with
  // references to the owners of the memory. Call once for each job, while its arguments are valid.
  void fill(runtime::JobTask& task, const Model::Impl& model, size_t index) const noexcept;
  // Like fill(), for the job that was added last, if it ends before this object and the arguments
  // are destroyed (see JobTask::lend). `task` refers to bindings that add() and fill() overwrite:
  // neither may be called after that add() until the job has run.
  void lend(runtime::JobTask& task, const Model::Impl& model) const noexcept;

 private:
  struct Bound {
    const JobArgs* args = nullptr;
    size_t first = 0;       // index of its first binding in `tensors`
    size_t first_open = 0;  // index of its first element in `open`
    bool open = false;      // whether the model has open tensors
    bool has_callback = false;
  };
  struct Storage {
    std::vector<runtime::TensorBinding> tensors;  // without their owners, which fill() adds
    std::vector<Bound> jobs;
    std::vector<runtime::OpenTensor> open;  // for jobs whose model has open tensors
    // The result of the last call of bindings(). The object is reused, since g++ would clear a new
    // one with a slow instruction.
    runtime::JobBindings bindings;
  };
  // Returns the bindings of the job that was added as number `index`. The result is in the storage:
  // valid until the next call, also by add() or fill().
  const runtime::JobBindings& bindings(size_t index) const noexcept;
  void watch(const Model::Impl& model, const Bound& job,
             const runtime::JobBindings& bindings) const noexcept;
  void append(std::span<const TensorArg> args);
  void append_open(std::span<const TensorArg> args, const std::vector<TensorInfo>& infos);

  const ThreadSpare<Storage> storage_;
};

}  // namespace millrace::api
