// Executor: runs frames of one program on one set of lanes.
//
// For each lane it holds the device's context of the program and the staging memory of converted
// boundary tensors. Both are created when the lane first needs them. Sessions on the same program
// and the same lanes share one executor. run_frame() may be called by several lanes at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/status.h"
#include "device/device.h"
#include "memory/buffer.h"
#include "queue/lanes/lanes.h"
#include "queue/requests/request.h"
#include "runtime/jobs/boundary.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

class Executor {
 public:
  // Returns the executor of `program`, which must be loaded on `device`, on `lanes`, or on those of
  // the device if null. It is created on first use and destroyed with the last pointer to it, and
  // keeps the lanes alive. Fails as Boundary::plan. Thread-safe.
  static Result<std::shared_ptr<Executor>> of(std::shared_ptr<device::Device> device,
                                              std::shared_ptr<const device::Program> program,
                                              std::shared_ptr<queue::Lanes> lanes = nullptr);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  device::Device& device() noexcept { return *device_; }
  queue::Lanes& lanes() const noexcept { return *lanes_; }
  const device::Program& program() const noexcept { return *program_; }
  const graph::CompiledModel& model() const noexcept { return model_; }

  // The number of tensors of one frame.
  size_t input_count() const noexcept { return inputs_.size(); }
  size_t output_count() const noexcept { return outputs_.size(); }

  // Returns whether each job determines dimensions of any tensor.
  bool has_open_tensors() const noexcept { return open_; }

  // Checks whether the bindings fit the model; kInvalidArgument with the reason if not.
  // Thread-safe.
  Status check(const JobBindings& bindings) const;

  // Checks whether no tensor has to be converted; kInvalidArgument names one that has to be.
  // Requirement: check() is OK. Thread-safe.
  Status check_in_place(const JobBindings& bindings) const;

  // Runs one frame on the calling thread, which must be the lane that `control` names, or have
  // borrowed it. Adds its conversions to `conversions`. Reports each piece of work to `control` as
  // it begins, and ends with stop_status() before the next operator once a stop is requested.
  // `open` is null unless the model has open tensors.
  Status run_frame(std::span<const TensorBinding> inputs, std::span<const TensorBinding> outputs,
                   const OpenTensors* open, queue::RunControl& control,
                   BoundaryConversions& conversions) noexcept;

  // For the program of a rank (nothing otherwise): records a job that was accepted but has failed
  // or will not run on this rank. Jobs accepted before it are not affected. The collectives of
  // later jobs would be matched with those of other jobs on the other ranks, so later jobs fail on
  // all ranks (device::Program::skip_job). Thread-safe.
  void skip_job(queue::SequenceId job) noexcept;
  // Must be called before a job runs: tells the program if an earlier job was skipped.
  void begin_job(queue::SequenceId job) noexcept {
    const queue::SequenceId skipped = first_skipped_.load(std::memory_order_relaxed);
    if (skipped == kNoJob) [[likely]]
      return;
    // Jobs of different units have no order, so any of them counts as later.
    if (queue::unit_of(skipped) != queue::unit_of(job) || skipped < job) program_->skip_job();
  }

  // Returns a name for each step of the program, for events (base/hooks.h). The first call makes
  // them; none if memory is exhausted. Thread-safe.
  std::span<const NameId> step_names() noexcept;

  // Describes what a job at `position` is doing: frame, partition, operator and output.
  // Thread-safe.
  std::string describe(const queue::RunPosition& position) const;

 private:
  // The state of one lane. Only the thread that runs as this lane accesses it. A thread that was
  // given up keeps its lane id, and with it this state, so its replacement uses another one.
  struct LaneState {
    std::unique_ptr<device::Context> context;
    std::vector<memory::Buffer> input_staging, output_staging;
    std::vector<device::Binding> inputs, outputs;
  };

  Executor(std::shared_ptr<device::Device> device, std::shared_ptr<const device::Program> program,
           std::shared_ptr<queue::Lanes> lanes);
  Status plan();
  bool fits(const JobBindings& bindings) const noexcept;
  Status check_side(std::span<const TensorBinding> bindings, size_t frames, const char* what,
                    const std::vector<Boundary>& boundaries) const;
  Status check_open(std::span<const TensorBinding> bindings, std::span<const OpenTensor> open,
                    const std::vector<Boundary>& boundaries) const;
  Status prepare(LaneState& state) const;
  bool bind_as_they_are(LaneState& state, std::span<const TensorBinding> inputs,
                        std::span<const TensorBinding> outputs) const noexcept;
  Status stage(LaneState& state, std::span<const TensorBinding> inputs,
               std::span<const TensorBinding> outputs, const OpenTensors* open,
               BoundaryConversions& conversions) const;

  std::shared_ptr<device::Device> device_;
  std::shared_ptr<const device::Program> program_;
  const graph::CompiledModel& model_;  // the program's model
  std::shared_ptr<queue::Lanes> lanes_;
  std::vector<Boundary> inputs_, outputs_;
  bool open_ = false;
  static constexpr queue::SequenceId kNoJob = 0;
  std::atomic<queue::SequenceId> first_skipped_{kNoJob};
  std::vector<LaneState> states_;  // by LaneId
  std::once_flag named_steps_;
  std::vector<NameId> step_names_;
};

}  // namespace millrace::runtime
