#include "bench/peers/millrace_side.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/bench/closed_loops.h"
#include "cli/bench/percentiles.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/random_inputs.h"

namespace millrace::bench {
namespace {

cli::Workload workload_for(double seconds, runtime::Session& session,
                           std::span<const cli::JobBuffers> slots) {
  const std::chrono::duration<double> duration(seconds);
  return {.session = session,
          .slots = slots,
          .warmup = 1,
          .duration = std::chrono::duration_cast<std::chrono::nanoseconds>(duration)};
}

double largest_difference(std::span<const float> ours, std::span<const float> theirs) {
  float difference = 0, magnitude = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    difference = std::max(difference, std::abs(ours[i] - theirs[i]));
    magnitude = std::max(magnitude, std::abs(theirs[i]));
  }
  return magnitude > 0 ? difference / magnitude : difference;
}

}  // namespace

Result<MillraceSide> MillraceSide::create(const std::string& onnx, const cli::CompileFlags& flags,
                                          uint32_t threads) {
  MillraceSide side;
  MILLRACE_ASSIGN_OR_RETURN(side.loaded_,
                            cli::load_model(onnx, flags, "cpu", 0, {.lanes = threads}));
  const graph::CompiledModel& model = side.loaded_.program->model();
  if (model.network != nullptr)
    return Status(StatusCode::kUnsupported, "its shapes are open: see --input-shape");
  const uint32_t in_flight = 2 * threads;  // as `millrace bench --scenario offline`
  for (uint32_t i = 0; i < in_flight; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        cli::JobBuffers buffers,
        cli::JobBuffers::allocate(model, model.inputs, 1, device::View::kCpu, device::View::kCpu));
    MILLRACE_RETURN_IF_ERROR(cli::fill_inputs(model.inputs, device::View::kCpu, buffers));
    side.slots_.push_back(std::move(buffers));
  }
  MILLRACE_ASSIGN_OR_RETURN(side.session_,
                            runtime::Session::create(side.loaded_.device, side.loaded_.program,
                                                     {.max_concurrent_runs = in_flight}));
  return side;
}

Result<double> MillraceSide::latency_ms(double seconds) const {
  MILLRACE_ASSIGN_OR_RETURN(const cli::Measurement measured,
                            cli::run_single_stream(workload_for(seconds, *session_, slots_)));
  return cli::distribution_of(measured.latencies_ms()).median;
}

Result<double> MillraceSide::throughput_ms(double seconds) const {
  MILLRACE_ASSIGN_OR_RETURN(const cli::Measurement measured,
                            cli::run_offline(workload_for(seconds, *session_, slots_)));
  return measured.seconds * 1e3 / static_cast<double>(measured.jobs);
}

std::vector<OrtTensor> MillraceSide::inputs() const {
  std::vector<OrtTensor> tensors;
  for (const graph::Boundary& boundary : loaded_.program->model().inputs)
    tensors.push_back({&boundary.cpu, slots_[0].input(0, tensors.size())});
  return tensors;
}

std::vector<OrtTensor> MillraceSide::outputs_in(std::vector<std::vector<std::byte>>& memory) const {
  std::vector<OrtTensor> tensors;
  for (const graph::Boundary& boundary : loaded_.program->model().outputs) {
    memory.emplace_back(std::max<size_t>(boundary.cpu.bytes(), 1));
    tensors.push_back({&boundary.cpu, memory.back().data()});
  }
  return tensors;
}

double MillraceSide::difference_from(const std::vector<OrtTensor>& outputs) const {
  double difference = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::TensorDesc& desc = *outputs[i].desc;
    if (desc.type != tensor::DataType::kFloat32) continue;
    const auto* const ours = reinterpret_cast<const float*>(slots_[0].output(0, i));
    difference =
        std::max(difference,
                 largest_difference({ours, desc.elements()},
                                    {static_cast<const float*>(outputs[i].data), desc.elements()}));
  }
  return difference;
}

}  // namespace millrace::bench
