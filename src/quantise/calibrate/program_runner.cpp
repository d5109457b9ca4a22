#include "quantise/calibrate/program_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "device/registry.h"
#include "memory/buffer.h"
#include "runtime/session.h"

namespace millrace::quantise {
namespace {

constexpr size_t kInFlight = 2;

// Memory for the outputs of one job. The jobs of a run use kInFlight of these in turn.
class OutputBuffers {
 public:
  static Result<OutputBuffers> allocate(const graph::CompiledModel& model) {
    OutputBuffers buffers;
    for (const graph::Boundary& output : model.outputs) {
      MILLRACE_ASSIGN_OR_RETURN(memory::Buffer buffer,
                                memory::Buffer::allocate(std::max<size_t>(output.cpu.bytes(), 1),
                                                         memory::BufferKind::kHeap));
      buffers.bindings_.push_back({buffer.data(), device::View::kCpu, buffer.owner()});
      buffers.data_.push_back(buffer.data());
    }
    return buffers;
  }

  std::span<const runtime::TensorBinding> bindings() const { return bindings_; }
  ProgramRunner::Outputs outputs() const { return data_; }

 private:
  std::vector<runtime::TensorBinding> bindings_;
  std::vector<const std::byte*> data_;
};

Result<runtime::SessionJobId> submit(runtime::Session& session, const Sample& sample,
                                     const OutputBuffers& buffers) {
  std::vector<runtime::TensorBinding> inputs;
  for (const std::vector<std::byte>& input : sample.inputs)
    // Jobs do not write to their inputs.
    inputs.push_back({const_cast<std::byte*>(input.data()), device::View::kCpu, nullptr});
  runtime::JobBindings bindings;
  bindings.inputs = inputs;
  bindings.outputs = buffers.bindings();
  return session.submit(bindings);
}

}  // namespace

Status check_sample(const graph::CompiledModel& model, const Sample& sample) {
  if (sample.inputs.size() != model.inputs.size())
    return invalid_argument(fmt::format("{} has {} tensors, but the model has {} inputs",
                                        sample.name, sample.inputs.size(), model.inputs.size()));
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const tensor::TensorDesc& input = model.inputs[i].cpu;
    if (sample.inputs[i].size() != input.bytes())
      return invalid_argument(fmt::format("{} has {} bytes for input '{}', which needs {}",
                                          sample.name, sample.inputs[i].size(), input.name,
                                          input.bytes()));
  }
  return {};
}

Result<ProgramRunner> ProgramRunner::load(std::shared_ptr<const graph::CompiledModel> model) {
  ProgramRunner runner;
  runner.model_ = std::move(model);
  MILLRACE_ASSIGN_OR_RETURN(runner.device_, device::open_device("cpu", {.stated_precision = true}));
  MILLRACE_ASSIGN_OR_RETURN(runner.program_, runner.device_->load(runner.model_));
  runner.profile_ = std::make_shared<runtime::Profile>(*runner.program_);
  return runner;
}

Status ProgramRunner::run(std::span<const Sample> samples, const Visit& visit) {
  for (const Sample& sample : samples) MILLRACE_RETURN_IF_ERROR(check_sample(*model_, sample));
  std::vector<OutputBuffers> buffers;
  for (size_t i = 0; i < std::min(kInFlight, samples.size()); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(OutputBuffers more, OutputBuffers::allocate(*model_));
    buffers.push_back(std::move(more));
  }
  runtime::SessionOptions options;
  options.max_concurrent_runs = kInFlight;
  options.profile = profile_;
  options.name = "calibration";
  // Declared after the buffers, so that the session is closed before they are freed.
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(device_, program_, options));
  std::deque<runtime::SessionJobId> running;
  for (size_t next = 0, done = 0; done < samples.size(); ++done) {
    for (; next < samples.size() && running.size() < kInFlight; ++next) {
      MILLRACE_ASSIGN_OR_RETURN(const auto id,
                                submit(*session, samples[next], buffers[next % kInFlight]));
      running.push_back(id);
    }
    const Status status = session->wait(running.front(), kLongestWait);
    running.pop_front();
    if (!status.ok()) return status.with_context(samples[done].name);
    MILLRACE_RETURN_IF_ERROR(visit(done, buffers[done % kInFlight].outputs()));
  }
  return {};
}

}  // namespace millrace::quantise
