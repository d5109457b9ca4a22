// ReplayedJob: the tensors of a recorded job, to run it once more. One thread, and not while the
// job runs.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "base/status.h"
#include "cli/replay/recording.h"
#include "graph/compiled_model.h"
#include "runtime/jobs/job.h"

namespace millrace::cli {

class ReplayedJob {
 public:
  // Allocates the tensors, and fills the inputs with the recorded bytes or, where the record has
  // none, with values of a standard normal distribution. kCorruptData if the job does not fit the
  // model or a file is wrong. Requirement: `recording` and `job` outlive the result.
  static Result<ReplayedJob> make(const Recording& recording, const RecordedJob& job,
                                  const graph::CompiledModel& model, std::mt19937& random);
  ReplayedJob(ReplayedJob&&) = default;
  ReplayedJob& operator=(ReplayedJob&&) = default;

  const RecordedJob& job() const { return *job_; }
  const runtime::JobBindings& bindings() const { return bindings_; }
  // Returns an output of the job, counted over all frames, as it is after the run, and its
  // description, with the dimensions that the run gave to open ones.
  std::span<const std::byte> output(size_t index) const;
  const graph::Boundary& boundary(size_t index) const { return boundaries_[index]; }
  // Must be called after a run that succeeded.
  void settle_outputs();

 private:
  ReplayedJob() = default;
  Status add_inputs(const Recording& recording, const graph::CompiledModel& model,
                    std::mt19937& random);
  Status add_outputs(const graph::CompiledModel& model);
  void bind(bool open);

  const RecordedJob* job_ = nullptr;
  runtime::JobBindings bindings_;  // refers to the vectors below, which keep their memory on a move
  std::vector<runtime::TensorBinding> inputs_, outputs_;
  std::vector<TensorShape> input_shapes_, output_shapes_;
  std::vector<runtime::OpenTensor> open_inputs_, open_outputs_;
  std::vector<graph::Boundary> boundaries_;  // of the outputs
};

}  // namespace millrace::cli
