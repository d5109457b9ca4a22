// JobSync: copies tensors between the host's memory and the device's own copy of it before and
// after a job. It concerns tensors whose memory has such a copy (strict sync,
// memory/device_side.h), on which the job then works. Immutable, and so thread-safe.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

class JobSync {
 public:
  // Copies in both directions.
  JobSync() = default;
  // Copies inputs to the device and outputs to the host only as stated. The rest is left to the
  // caller; a missing sync is reported with the name `user`.
  JobSync(bool inputs, bool outputs, std::string user)
      : inputs_(inputs), outputs_(outputs), user_(std::move(user)) {}

  // Returns whether the device has its own copy of any of the tensors.
  static bool concerns(const JobBindings& bindings) noexcept;

  // Call before the first frame: copies the inputs to the device. kOutOfMemory.
  Status begin(const graph::CompiledModel& model, const JobBindings& bindings) const noexcept;
  // Call after the last frame of a job that succeeded: copies the outputs to the host.
  // kOutOfMemory.
  Status end(const graph::CompiledModel& model,
             std::span<const TensorBinding> outputs) const noexcept;

 private:
  std::string label(const char* what, const graph::Boundary& boundary) const;

  bool inputs_ = true, outputs_ = true;
  std::string user_;
};

}  // namespace millrace::runtime
