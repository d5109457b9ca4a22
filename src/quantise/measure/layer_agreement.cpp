// Both functions run models whose inner values are outputs (graph::with_inner_values), so a value
// can be compared only if no pass has fused it into another node.
#include "quantise/measure/layer_agreement.h"

#include <map>
#include <memory>
#include <string>

#include "device/cpu/capabilities/capabilities.h"
#include "graph/inner_values.h"
#include "lowering/assemble.h"
#include "quantise/calibrate/program_runner.h"

namespace millrace::quantise {
namespace {

using graph::CompiledModel;
using graph::ValueId;
using Floats = std::span<const float>;

template <class T>
void dequantise_as(const std::byte* data, const graph::Quantisation& quantisation,
                   std::vector<float>& elements) {
  const auto* integers = reinterpret_cast<const T*>(data);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] =
        static_cast<float>(integers[i] - quantisation.zero_points[0]) * quantisation.scales[0];
}

// Returns the dequantised elements of a tensor: those at `data` if they are FLOAT32, otherwise
// converted into `scratch`. Requirement: can_be_dequantised().
Floats dequantised(const graph::Boundary& boundary, const graph::Value& value,
                   const std::byte* data, std::vector<float>& scratch) {
  const size_t elements = boundary.cpu.elements();
  if (boundary.cpu.type == tensor::DataType::kFloat32)
    return {reinterpret_cast<const float*>(data), elements};
  scratch.resize(elements);
  if (value.type == tensor::DataType::kInt8)
    dequantise_as<int8_t>(data, *value.quantisation, scratch);
  else
    dequantise_as<uint8_t>(data, *value.quantisation, scratch);
  return scratch;
}

// Whether the tensor is FLOAT32, or INT8 or UINT8 with one scale for all elements.
bool can_be_dequantised(const graph::Boundary& boundary, const graph::Value& value) {
  using enum tensor::DataType;
  if (boundary.cpu.type == kFloat32) return true;
  return value.quantisation && !value.quantisation->is_per_axis() &&
         (boundary.cpu.type == kInt8 || boundary.cpu.type == kUint8);
}

Result<ProgramRunner> load_with_inner_values(const CompiledModel& model) {
  MILLRACE_ASSIGN_OR_RETURN(CompiledModel all, graph::with_inner_values(model));
  return ProgramRunner::load(std::make_shared<const CompiledModel>(std::move(all)));
}

// Returns, by output of the exact model, the index of the quantised model's output that represents
// the same value, if there is one.
std::vector<std::optional<size_t>> counterparts(const CompiledModel& exact,
                                                const CompiledModel& quantised) {
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < quantised.outputs.size(); ++i)
    if (can_be_dequantised(quantised.outputs[i],
                           quantised.graph.values[quantised.outputs[i].value]))
      by_name.emplace(quantised.outputs[i].cpu.name, i);
  std::vector<std::optional<size_t>> found(exact.outputs.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const tensor::TensorDesc& desc = exact.outputs[i].cpu;
    if (desc.type != tensor::DataType::kFloat32) continue;
    // The integers take precedence: a value of the plain name may be the one before quantisation.
    for (const std::string& name : {quantised_name(desc.name), desc.name}) {
      const auto entry = by_name.find(name);
      if (found[i] || entry == by_name.end()) continue;
      if (quantised.outputs[entry->second].cpu.shape == desc.shape) found[i] = entry->second;
    }
  }
  return found;
}

}  // namespace

Result<std::vector<Difference>> measure_probes(const ProbedGraph& probed,
                                               std::span<const Sample> samples) {
  MILLRACE_ASSIGN_OR_RETURN(
      CompiledModel model,
      lowering::assemble(probed.graph, {.capabilities = device::cpu::capabilities()},
                         "layers apart"));
  std::vector<size_t> output_of(probed.graph.values.size());
  for (size_t i = 0; i < model.outputs.size(); ++i) output_of[model.outputs[i].value] = i;
  MILLRACE_ASSIGN_OR_RETURN(
      ProgramRunner runner,
      ProgramRunner::load(std::make_shared<const CompiledModel>(std::move(model))));
  std::vector<Difference> differences(probed.probes.size());
  MILLRACE_RETURN_IF_ERROR(runner.run(samples, [&](size_t, ProgramRunner::Outputs data) -> Status {
    const auto floats = [&](ValueId id) {
      const size_t output = output_of[id];
      return Floats(reinterpret_cast<const float*>(data[output]),
                    runner.model().outputs[output].cpu.elements());
    };
    for (size_t i = 0; i < differences.size(); ++i)
      differences[i].add(floats(probed.probes[i].exact), floats(probed.probes[i].rounded));
    return {};
  }));
  return differences;
}

Result<std::vector<std::optional<Difference>>> compare_values(const CompiledModel& exact,
                                                              const CompiledModel& quantised,
                                                              std::span<const Sample> samples) {
  MILLRACE_ASSIGN_OR_RETURN(ProgramRunner approximate, load_with_inner_values(quantised));
  MILLRACE_ASSIGN_OR_RETURN(ProgramRunner reference, load_with_inner_values(exact));
  const auto pairs = counterparts(reference.model(), approximate.model());
  std::vector<std::optional<Difference>> differences(exact.graph.values.size());
  std::vector<float> scratch;
  const auto compare = [&](ProgramRunner::Outputs expected, ProgramRunner::Outputs actual) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i]) continue;
      const graph::Boundary& boundary = reference.model().outputs[i];
      const graph::Boundary& other = approximate.model().outputs[*pairs[i]];
      auto& difference = differences[boundary.value];
      if (!difference) difference.emplace();
      difference->add(Floats(reinterpret_cast<const float*>(expected[i]), boundary.cpu.elements()),
                      dequantised(other, approximate.model().graph.values[other.value],
                                  actual[*pairs[i]], scratch));
    }
  };
  // The runs are nested, one sample at a time: the outputs of both are valid inside `compare` only.
  for (const Sample& sample : samples)
    MILLRACE_RETURN_IF_ERROR(reference.run({&sample, 1}, [&](size_t,
                                                             ProgramRunner::Outputs expected) {
      return approximate.run({&sample, 1}, [&](size_t, ProgramRunner::Outputs actual) -> Status {
        compare(expected, actual);
        return {};
      });
    }));
  return differences;
}

}  // namespace millrace::quantise
