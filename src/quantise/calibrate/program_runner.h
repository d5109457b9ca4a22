// ProgramRunner: a model on the CPU device, which is run on samples one after another. For one
// thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "base/status.h"
#include "device/device.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"
#include "runtime/loading/profile.h"

namespace millrace::quantise {

class ProgramRunner {
 public:
  // The outputs of one sample, in the model's order and their CPU views.
  using Outputs = std::span<const std::byte* const>;
  using Visit = std::function<Status(size_t sample, Outputs outputs)>;

  // Fails as Device::load does.
  static Result<ProgramRunner> load(std::shared_ptr<const graph::CompiledModel> model);

  const graph::CompiledModel& model() const noexcept { return *model_; }

  // Calls `visit` on this thread for each sample, in their order; the outputs are valid within that
  // call only. Meanwhile the device runs the next sample. kInvalidArgument: a sample does not fit
  // the inputs of the model. Returns the first failure, of a job or of `visit`.
  Status run(std::span<const Sample> samples, const Visit& visit);

  // The times of all jobs so far, by step of program().info().
  runtime::ProfileTotals times() const { return profile_->totals(); }
  const device::Program& program() const noexcept { return *program_; }

 private:
  ProgramRunner() = default;

  std::shared_ptr<const graph::CompiledModel> model_;
  std::shared_ptr<device::Device> device_;
  std::shared_ptr<const device::Program> program_;
  std::shared_ptr<runtime::Profile> profile_;
};

// Whether the sample has one tensor of the right size for each input; kInvalidArgument names both.
Status check_sample(const graph::CompiledModel& model, const Sample& sample);

}  // namespace millrace::quantise
