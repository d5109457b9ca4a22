// JobSync: keeps the host's memory and the device's own copy of it in step around a job, for the
// tensors whose memory has such a copy (strict sync, memory/device_side.h). The job then works on
// the device's copy alone. Immutable, and so thread-safe.
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
  // Both ways, for every job.
  JobSync() = default;
  // A way that is not synced is left to the caller, and what that misses is reported in the name of
  // `user`.
  JobSync(bool inputs, bool outputs, std::string user)
      : inputs_(inputs), outputs_(outputs), user_(std::move(user)) {}

  // Whether the device has a copy of its own of any of the tensors.
  static bool concerns(const JobBindings& bindings) noexcept;

  // Before the first frame: brings the inputs to the device.
  Status begin(const graph::CompiledModel& model, const JobBindings& bindings) const noexcept;
  // After the last frame of a job that succeeded: brings the outputs to the host.
  Status end(const graph::CompiledModel& model,
             std::span<const TensorBinding> outputs) const noexcept;

 private:
  std::string label(const char* what, const graph::Boundary& boundary) const;

  bool inputs_ = true, outputs_ = true;
  std::string user_;
};

}  // namespace millrace::runtime
