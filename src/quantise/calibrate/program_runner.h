// ProgramRunner loads a model on the CPU device and runs it on samples, with its times profiled.
// BF16 models compute in BF16 wherever the processor can, so that what is measured is their own
// precision. One thread at a time may use a runner.
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
  // The outputs of one sample as CPU views, in the order of the model.
  using Outputs = std::span<const std::byte* const>;
  using Visit = std::function<Status(size_t sample, Outputs outputs)>;

  // Errors are those of device::open_device() and Device::load().
  static Result<ProgramRunner> load(std::shared_ptr<const graph::CompiledModel> model);

  const graph::CompiledModel& model() const noexcept { return *model_; }

  // Calls `visit` on the calling thread for each sample, in order; the outputs are valid within
  // that call only. Meanwhile the device runs the next sample. kInvalidArgument: a sample does not
  // fit the inputs of the model. Returns the first failure of a job or of `visit`.
  Status run(std::span<const Sample> samples, const Visit& visit);

  // Returns the times of all jobs so far, by step of program().info().
  runtime::ProfileTotals times() const { return profile_->totals(); }
  const device::Program& program() const noexcept { return *program_; }

 private:
  ProgramRunner() = default;

  std::shared_ptr<const graph::CompiledModel> model_;
  std::shared_ptr<device::Device> device_;
  std::shared_ptr<const device::Program> program_;
  std::shared_ptr<runtime::Profile> profile_;
};

// Checks that the sample has one tensor of the right size for each input. kInvalidArgument
// otherwise; the message names the sample and, where a size differs, the input.
Status check_sample(const graph::CompiledModel& model, const Sample& sample);

}  // namespace millrace::quantise
