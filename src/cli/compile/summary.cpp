#include "cli/compile/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <variant>

#include "cli/passes/graph_text.h"
#include "cli/quantise/hw_view_lines.h"
#include "device/cpu/capabilities/capabilities.h"
#include "graph/network/network.h"
#include "graph/precision_name.h"
#include "lowering/operators/operator_table.h"
#include "lowering/placement/placement.h"
#include "lowering/stage.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {
namespace {

using Lines = std::vector<std::string>;

// Adds a note about inputs whose batch dimension is fixed in the model: it stays in their shapes,
// and --batch counts frames of this size.
void note_fixed_batch(const graph::CompiledModel& model, Lines& lines) {
  for (const graph::Boundary& input : model.inputs)
    if (input.cpu.layout == tensor::Layout::kNchw && input.cpu.shape[0] > 1)
      lines.push_back(fmt::format(
          "note: the shape of input \"{}\" has N={}: one frame is {}, and --batch counts such "
          "frames",
          input.cpu.name, input.cpu.shape[0], fmt::join(input.cpu.shape, "x")));
}

// Returns an attribute, or null if the operator has none of this name and type.
template <class T>
const T* attribute_of(const graph::Fallback& op, std::string_view name) {
  const auto entry = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  return entry == op.attributes.end() ? nullptr : std::get_if<T>(&entry->value);
}

// Adds how the class names of an ai.onnx.ml classifier are represented: a tensor can hold neither
// the strings nor the maps that the standard declares.
void note_class_names(const graph::Fallback& op, const std::string& output, Lines& lines) {
  const auto* names = attribute_of<std::vector<std::string>>(op, "classlabels_strings");
  const auto* numbers = attribute_of<graph::Dims>(op, "classlabels_int64s");
  const bool has_names = names != nullptr && !names->empty();
  const std::string classes = has_names            ? fmt::format("{}", fmt::join(*names, ", "))
                              : numbers != nullptr ? fmt::format("{}", fmt::join(*numbers, ", "))
                                                   : "";
  if (op.name == "ai.onnx.ml.ZipMap")
    lines.push_back(
        fmt::format("note: \"{}\" is a tensor instead of a sequence of maps; its columns are: {}",
                    output, classes));
  else if (has_names)
    lines.push_back(fmt::format(
        "note: \"{}\" has the index of a class, from 0, instead of its name: {}", output, classes));
}

bool is_used(const graph::Graph& graph, graph::ValueId id) {
  return std::ranges::count(graph.outputs, id) > 0 ||
         std::ranges::any_of(graph.nodes, [id](const graph::Node& node) {
           return std::ranges::count(node.inputs, id) > 0;
         });
}

// Adds the notes for all classifiers of the model. Unused outputs are skipped: if the model omits
// one, its name in the graph is not the model's.
void note_class_names(const graph::CompiledModel& model, Lines& lines) {
  for (const graph::Node& node : model.graph.nodes) {
    const auto* op = std::get_if<graph::Fallback>(&node.op);
    if (op != nullptr && op->name.starts_with("ai.onnx.ml.") &&
        is_used(model.graph, node.outputs[0]))
      note_class_names(*op, model.graph.values[node.outputs[0]].name, lines);
  }
  if (model.network == nullptr) return;
  for (const network::Node& node : model.network->nodes) {
    if (node.domain != "ai.onnx.ml" || node.outputs.empty() || node.outputs[0].empty()) continue;
    const Result<graph::Fallback> op = lowering::as_fallback(*model.network, node);
    if (op.ok()) note_class_names(*op, node.outputs[0], lines);
  }
}

// Returns why shapes of the model are known only when a job runs: an open input, or else the first
// node whose output shape depends on elements (data-dependent).
std::string reason_of(const graph::CompiledModel& model) {
  const auto describe = [](const char* what, const graph::Boundary& tensor) {
    return fmt::format(
        "{} \"{}\" is {}", what, tensor.cpu.name,
        tensor.cpu.shape.empty() ? "of any rank" : tensor::to_string(tensor.cpu.shape));
  };
  const auto input = std::ranges::find_if(model.inputs, &graph::Boundary::open);
  if (input != model.inputs.end()) return describe("input", *input);
  const Result<lowering::Stage> stage =
      lowering::lower_whole(*model.network, device::cpu::capabilities(), true);
  if (!stage.ok() || stage->rest.empty()) return "shapes inside it depend on elements";
  const network::Node& node = model.network->nodes[stage->rest.front()];
  return fmt::format("the shape of \"{}\", an output of {}, depends on elements",
                     node.outputs.front(), node.type);
}

void describe_dynamic(const graph::CompiledModel& model, const std::string& output, Lines& lines) {
  lines.push_back(fmt::format("{}: dynamic, {} operators, {}, batch {}", output,
                              model.network->nodes.size(), graph::name_of(model.precision),
                              model.batch_size));
  const std::string for_static_apis =
      model.profiles.empty() ? "static models only"
                             : fmt::format("profile \"{}\" of it", model.profiles.front().name);
  lines.push_back(fmt::format(
      "note: its shapes are known only when a job runs, since {}; the VART and NRT APIs take {}",
      reason_of(model), for_static_apis));
}

// Adds the nodes that --cpu-ops has moved to the CPU, grouped by the names given to it.
void describe_cpu_operators(const graph::CompiledModel& model, const CompileFlags& flags,
                            Lines& lines) {
  const lowering::CpuOperators names(flags.cpu_operators.begin(), flags.cpu_operators.end());
  std::map<std::string, std::vector<std::string>> matched;
  for (const graph::Node& node : model.graph.nodes)
    for (const std::string& name : lowering::matching_names(node, names))
      matched[name].push_back(fmt::format("{} \"{}\"", operation_name(node.op), node.name));
  for (const auto& [name, nodes] : matched)
    lines.push_back(fmt::format("on the CPU by {}: {}", name, fmt::join(nodes, ", ")));
}

// Adds the facts about a static model: its size, its HW views, and what runs on the CPU.
void describe_static(const CompiledArchive& compiled, const std::string& output, Lines& lines) {
  const graph::CompiledModel& model = compiled.model;
  const std::string partitions =
      model.partitions.size() > 1 ? fmt::format("{} partitions, ", model.partitions.size()) : "";
  const std::string columns = compiled.columns == graph::kColumnsOfAUnit
                                  ? ""
                                  : fmt::format(", {} columns", compiled.columns);
  lines.push_back(fmt::format(
      "{}: {} operators, {}{:.2f} MB of weights, {}, batch {}{}", output, model.graph.nodes.size(),
      partitions, static_cast<double>(weight_bytes(model)) * 1e-6,
      graph::precision_name(model, model.precision), model.batch_size, columns));
  for (std::string& line : hw_view_lines(model, compiled.hw_views ? &*compiled.hw_views : nullptr))
    lines.push_back(std::move(line));
  describe_cpu_operators(model, compiled.flags, lines);
  note_fixed_batch(model, lines);
}

}  // namespace

std::vector<std::string> summary_lines(const CompiledArchive& compiled, const std::string& output) {
  Lines lines;
  if (compiled.model.network != nullptr)
    describe_dynamic(compiled.model, output, lines);
  else
    describe_static(compiled, output, lines);
  note_class_names(compiled.model, lines);
  return lines;
}

}  // namespace millrace::cli
