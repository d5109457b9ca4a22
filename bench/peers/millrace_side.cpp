// Runs Millrace with the scenarios of `millrace bench` (src/cli/bench).
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
  side.threads_ = threads;
  MILLRACE_ASSIGN_OR_RETURN(side.loaded_,
                            cli::load_model(onnx, flags, "cpu", 0, {.lanes = threads}));
  const graph::CompiledModel& model = side.loaded_.program->model();
  if (model.network != nullptr)
    return Status(StatusCode::kUnsupported,
                  "the model has open dimensions: fix them with --input-shape");
  const uint32_t most_in_flight = cli::default_in_flight(cli::Scenario::kServer, threads);
  while (side.slots_.size() < most_in_flight) {
    MILLRACE_ASSIGN_OR_RETURN(
        cli::JobBuffers buffers,
        cli::JobBuffers::allocate(model, model.inputs, 1, device::View::kCpu, device::View::kCpu));
    MILLRACE_RETURN_IF_ERROR(cli::fill_inputs(model.inputs, device::View::kCpu, buffers));
    side.slots_.push_back(std::move(buffers));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      side.session_, runtime::Session::create(side.loaded_.device, side.loaded_.program,
                                              {.max_concurrent_runs = most_in_flight,
                                               .callback_order = CallbackOrder::kCompletion}));
  return side;
}

cli::Workload MillraceSide::workload(cli::Scenario scenario, double seconds) const {
  const std::chrono::duration<double> duration(seconds);
  return {.session = *session_,
          .slots = std::span(slots_).first(cli::default_in_flight(scenario, threads_)),
          .warmup = 1,
          .duration = std::chrono::duration_cast<std::chrono::nanoseconds>(duration)};
}

Result<double> MillraceSide::latency_ms(double seconds) const {
  MILLRACE_ASSIGN_OR_RETURN(
      const cli::Measurement measured,
      cli::run_single_stream(workload(cli::Scenario::kSingleStream, seconds)));
  return cli::distribution_of(measured.latencies_ms()).median;
}

Result<double> MillraceSide::throughput_ms(double seconds) const {
  MILLRACE_ASSIGN_OR_RETURN(const cli::Measurement measured,
                            cli::run_offline(workload(cli::Scenario::kOffline, seconds)));
  return measured.seconds * 1e3 / static_cast<double>(measured.jobs);
}

Result<Served> MillraceSide::serve(const cli::ServerLoad& load, double seconds) const {
  MILLRACE_ASSIGN_OR_RETURN(const cli::Measurement measured,
                            cli::run_server(workload(cli::Scenario::kServer, seconds), load));
  Served served;
  for (const cli::Query& query : measured.queries) served.arrivals_ns.push_back(query.issued_ns);
  served.p99_ms = cli::distribution_of(measured.latencies_ms()).p99;
  return served;
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
