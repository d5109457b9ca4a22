#include "quantise/calibrate/collect.h"

#include <fmt/format.h>

#include <memory>

#include "base/float_environment.h"
#include "graph/inner_values.h"
#include "quantise/calibrate/program_runner.h"

namespace millrace::quantise {
namespace {

using graph::CompiledModel;
using graph::Graph;
using graph::ValueId;

// Returns by value whether it is the first operand of a MatMul.
std::vector<bool> read_by_products(const Graph& graph) {
  std::vector<bool> read(graph.values.size());
  for (const graph::Node& node : graph.nodes)
    if (std::holds_alternative<graph::MatMul>(node.op)) read[node.inputs[0]] = true;
  return read;
}

Calibration make_calibration(const Graph& graph, const std::vector<bool>& wanted) {
  const std::vector<bool> matrices = read_by_products(graph);
  Calibration calibration(graph.values.size());
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (!wanted[id]) continue;
    const graph::Dims& shape = graph.values[id].shape;
    const size_t axis = matrices[id] && !shape.empty() ? shape.size() - 1 : 1;
    calibration[id].emplace(shape, axis);
  }
  return calibration;
}

// Adds the tensor of one sample to the statistics of its value, if these are wanted.
Status add(Calibration& calibration, const graph::Boundary& boundary, const std::byte* data,
           const Sample& sample) {
  auto& statistics = calibration[boundary.value];
  if (!statistics || boundary.cpu.type != tensor::DataType::kFloat32) return {};
  const std::span elements(reinterpret_cast<const float*>(data), boundary.cpu.elements());
  if (statistics->add(elements)) return {};
  return invalid_argument(
      fmt::format("{}: '{}' has a NaN or an infinity, so that its range "
                  "cannot be calibrated",
                  sample.name, boundary.cpu.name));
}

}  // namespace

Result<Calibration> calibrate(const CompiledModel& model, std::span<const Sample> samples,
                              const std::vector<bool>& wanted) {
  const DefaultFloatEnvironment floats;
  if (samples.empty()) return invalid_argument("there are no samples to calibrate on");
  Calibration calibration = make_calibration(model.graph, wanted);
  for (const Sample& sample : samples) {
    MILLRACE_RETURN_IF_ERROR(check_sample(model, sample));
    for (size_t i = 0; i < model.inputs.size(); ++i)
      MILLRACE_RETURN_IF_ERROR(add(calibration, model.inputs[i], sample.inputs[i].data(), sample));
  }
  MILLRACE_ASSIGN_OR_RETURN(CompiledModel all, graph::with_inner_values(model));
  MILLRACE_ASSIGN_OR_RETURN(
      ProgramRunner runner,
      ProgramRunner::load(std::make_shared<const CompiledModel>(std::move(all))));
  const auto& outputs = runner.model().outputs;
  MILLRACE_RETURN_IF_ERROR(
      runner.run(samples, [&](size_t index, ProgramRunner::Outputs data) -> Status {
        for (size_t i = 0; i < outputs.size(); ++i)
          MILLRACE_RETURN_IF_ERROR(add(calibration, outputs[i], data[i], samples[index]));
        return {};
      }));
  return calibration;
}

}  // namespace millrace::quantise
