#include "quantise/measure/layer_agreement.h"

#include <map>
#include <memory>
#include <string>

#include "graph/inner_values.h"
#include "lowering/assemble.h"
#include "quantise/calibrate/program_runner.h"

namespace millrace::quantise {
namespace {

using graph::CompiledModel;
using graph::ValueId;
using Floats = std::span<const float>;

template <class T>
void dequantise_as(const std::byte* data, const graph::Quantisation& form,
                   std::vector<float>& numbers) {
  const auto* integers = reinterpret_cast<const T*>(data);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(integers[i] - form.zero_points[0]) * form.scales[0];
}

// The numbers that a tensor in memory stands for; in `room` where they are not there as they are.
// Requirement: it is FLOAT32, or INT8 or UINT8 with one scale.
Floats numbers_of(const graph::Boundary& boundary, const graph::Value& value, const std::byte* data,
                  std::vector<float>& room) {
  const size_t elements = boundary.cpu.elements();
  if (boundary.cpu.type == tensor::DataType::kFloat32)
    return {reinterpret_cast<const float*>(data), elements};
  room.resize(elements);
  if (value.type == tensor::DataType::kInt8)
    dequantise_as<int8_t>(data, *value.quantisation, room);
  else
    dequantise_as<uint8_t>(data, *value.quantisation, room);
  return room;
}

bool has_numbers(const graph::Boundary& boundary, const graph::Value& value) {
  using enum tensor::DataType;
  if (boundary.cpu.type == kFloat32) return true;
  return value.quantisation && !value.quantisation->is_per_axis() &&
         (boundary.cpu.type == kInt8 || boundary.cpu.type == kUint8);
}

Result<ProgramRunner> load_with_inner_values(const CompiledModel& model) {
  MILLRACE_ASSIGN_OR_RETURN(CompiledModel all, graph::with_inner_values(model));
  return ProgramRunner::load(std::make_shared<const CompiledModel>(std::move(all)));
}

// For each output of the exact model, the index of the quantised model's output with the same
// numbers, if there is one.
std::vector<std::optional<size_t>> counterparts(const CompiledModel& exact,
                                                const CompiledModel& quantised) {
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < quantised.outputs.size(); ++i)
    if (has_numbers(quantised.outputs[i], quantised.graph.values[quantised.outputs[i].value]))
      by_name.emplace(quantised.outputs[i].cpu.name, i);
  std::vector<std::optional<size_t>> found(exact.outputs.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const tensor::TensorDesc& desc = exact.outputs[i].cpu;
    if (desc.type != tensor::DataType::kFloat32) continue;
    // The integers first: a value of the plain name may be what they are made from.
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
  MILLRACE_ASSIGN_OR_RETURN(CompiledModel model,
                            lowering::assemble(probed.graph, {}, "layers apart"));
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
  MILLRACE_ASSIGN_OR_RETURN(ProgramRunner ours, load_with_inner_values(quantised));
  MILLRACE_ASSIGN_OR_RETURN(ProgramRunner theirs, load_with_inner_values(exact));
  const auto pairs = counterparts(theirs.model(), ours.model());
  std::vector<std::optional<Difference>> differences(exact.graph.values.size());
  std::vector<float> room;
  const auto compare = [&](ProgramRunner::Outputs expected, ProgramRunner::Outputs actual) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i]) continue;
      const graph::Boundary& boundary = theirs.model().outputs[i];
      const graph::Boundary& other = ours.model().outputs[*pairs[i]];
      auto& difference = differences[boundary.value];
      if (!difference) difference.emplace();
      difference->add(
          Floats(reinterpret_cast<const float*>(expected[i]), boundary.cpu.elements()),
          numbers_of(other, ours.model().graph.values[other.value], actual[*pairs[i]], room));
    }
  };
  // One sample after the other, since the values of both runs have to be there at once.
  for (const Sample& sample : samples)
    MILLRACE_RETURN_IF_ERROR(theirs.run({&sample, 1}, [&](size_t, ProgramRunner::Outputs expected) {
      return ours.run({&sample, 1}, [&](size_t, ProgramRunner::Outputs actual) -> Status {
        compare(expected, actual);
        return {};
      });
    }));
  return differences;
}

}  // namespace millrace::quantise
