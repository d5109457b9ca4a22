// The HW views, and the memory plan of the archive. The plan is an estimate for inspection: it
// takes every value as dense, with channels padded to blocks (planned_bytes()), and lets an
// operator reuse the memory of an operand where that is possible (graph/in_place.h). The CPU device
// makes its own plan at load.
#include "lowering/assemble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/utf8.h"
#include "graph/archive/codec.h"
#include "graph/boundary_quantisation.h"
#include "graph/in_place.h"
#include "graph/memory_plan.h"
#include "graph/partitions.h"
#include "graph/vendor_quantisation.h"
#include "lowering/placement/placement.h"
#include "tensor/dimensions.h"

namespace millrace::lowering {
namespace {

using graph::Boundary;
using graph::CompiledModel;
using graph::Graph;
using graph::Precision;
using graph::Value;
using graph::ValueId;
using tensor::DataType;

Result<std::vector<uint32_t>> boundary_shape(const Value& value) {
  std::vector<uint32_t> shape;
  for (int64_t dim : value.shape) {
    if (dim > std::numeric_limits<uint32_t>::max()) {
      return invalid_argument(
          fmt::format("'{}' has a dimension of {}, which exceeds 32 bits", value.name, dim));
    }
    shape.push_back(static_cast<uint32_t>(dim));
  }
  return shape;
}

DataType hw_type(DataType type, Precision precision) {
  return tensor::fits_float32(type) ? graph::storage_type(precision) : type;
}

// Returns, for each value, the precision of an HW view of it: that of the node that makes it, or
// that of the nodes that read an input. If these differ it is FP32, which loses nothing for any of
// them. A value that no node makes or reads has the precision of the model.
std::vector<Precision> view_precisions(const Graph& graph, const std::vector<Precision>& of_nodes,
                                       Precision model) {
  std::vector<std::optional<Precision>> found(graph.values.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].inputs)
      if (id != graph::kNoValue)
        found[id] = found[id].value_or(of_nodes[i]) == of_nodes[i] ? of_nodes[i] : Precision::kFp32;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].outputs) found[id] = of_nodes[i];
  std::vector<Precision> precisions(found.size());
  std::ranges::transform(found, precisions.begin(),
                         [&](const auto& precision) { return precision.value_or(model); });
  return precisions;
}

Result<tensor::TensorDesc> make_hw_view(const tensor::TensorDesc& cpu, DataType type,
                                        const HwLayout* chosen) {
  if (chosen == nullptr) return tensor::make_hw_desc(cpu, type);
  if (chosen->order.empty()) return tensor::make_hw_desc(cpu, type, chosen->layout);
  if (chosen->layout == tensor::Layout::kGeneric)
    return tensor::permuted_view(cpu, type, chosen->order);
  return invalid_argument(
      fmt::format("tensor '{}': the HW layout {} takes no dimension order; only GENERIC does",
                  cpu.name, to_string(chosen->layout)));
}

Result<Boundary> make_boundary(const Graph& graph, ValueId id, bool on_cpu,
                               const std::optional<graph::BoundaryQuantisation>& quantisation,
                               Precision precision, const LoweringOptions& options) {
  const Value& value = graph.values[id];
  MILLRACE_ASSIGN_OR_RETURN(std::vector<uint32_t> shape, boundary_shape(value));
  Boundary boundary;
  boundary.value = id;
  boundary.cpu = tensor::make_cpu_desc(value.name, value.type, std::move(shape));
  const auto entry = options.hw_layouts.find(value.name);
  const HwLayout* const layout = entry == options.hw_layouts.end() ? nullptr : &entry->second;
  if (on_cpu && layout != nullptr) {
    return invalid_argument(
        fmt::format("a HW layout is given for '{}', but this tensor lies on a CPU or collective "
                    "partition and has no HW view",
                    value.name));
  }
  if (on_cpu) return boundary;
  DataType type = hw_type(value.type, precision);
  if (quantisation) {
    const bool for_vendor = options.hw_quantisation == graph::HwQuantisation::kVendor;
    const auto held = for_vendor ? graph::vendor_form(*quantisation) : *quantisation;
    type = held.type;
    boundary.quant = held.parameters;
    boundary.requantised = held != *quantisation;
  }
  MILLRACE_ASSIGN_OR_RETURN(boundary.hw, make_hw_view(boundary.cpu, type, layout));
  return boundary;
}

Result<std::vector<Boundary>> make_boundaries(const Graph& graph, const std::vector<ValueId>& ids,
                                              const std::vector<bool>& on_cpu,
                                              const std::vector<Precision>& precisions,
                                              const LoweringOptions& options) {
  std::vector<Boundary> boundaries;
  const auto quantisations = graph::boundary_quantisations(graph);
  for (ValueId id : ids) {
    MILLRACE_ASSIGN_OR_RETURN(
        Boundary boundary,
        make_boundary(graph, id, on_cpu[id], quantisations[id], precisions[id], options));
    boundaries.push_back(std::move(boundary));
  }
  return boundaries;
}

// Refuses a layout for a tensor that is no input or output: the name is probably misspelt.
Status check_layout_names(const Graph& graph, const LoweringOptions& options) {
  std::vector<std::string> names;
  for (const auto& ids : {graph.inputs, graph.outputs}) {
    for (ValueId id : ids) names.push_back(graph.values[id].name);
  }
  for (const auto& [name, layout] : options.hw_layouts) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return invalid_argument(
        fmt::format("a HW layout is given for '{}', but the model's inputs and outputs are: {}",
                    name, fmt::join(names, ", ")));
  }
  return {};
}

// Devices hold images in blocked layouts (NCHWc) of up to 16 channels per block.
constexpr int64_t kChannelBlock = 16;

// The bytes that the memory plan reserves for a value, with the channels of rank 4 padded to
// blocks.
size_t planned_bytes(const Value& value, Precision precision) {
  size_t elements = 1;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const bool channels = value.shape.size() == 4 && i == 1;
    const int64_t dim = value.shape[i];
    elements *= static_cast<size_t>(
        channels ? (dim + kChannelBlock - 1) / kChannelBlock * kChannelBlock : dim);
  }
  return elements * tensor::size_of(hw_type(value.type, precision));
}

// Collects the lifetimes of the values that one node makes and another reads, in steps: the indices
// of nodes. Inputs of the graph, and outputs that no node reads, lie in the caller's memory.
class LifetimeTable {
 public:
  LifetimeTable(const CompiledModel& model, const std::vector<Precision>& precisions)
      : graph_(model.graph), in_place_(graph_), last_(model.graph.values.size(), kNever) {
    const Graph& graph = model.graph;
    for (uint32_t step = 0; step < graph.nodes.size(); ++step) {
      for (ValueId id : graph.nodes[step].inputs) {
        if (id != graph::kNoValue) last_[id] = step;
      }
    }
    for (ValueId id : graph.outputs) {
      if (last_[id] != kNever) last_[id] = static_cast<uint32_t>(graph.nodes.size());
    }
    index_of_.resize(graph.values.size());
    for (uint32_t step = 0; step < graph.nodes.size(); ++step) add_outputs(step, precisions[step]);
  }

  const std::vector<ValueId>& values() const { return values_; }
  const std::vector<graph::Lifetime>& lifetimes() const { return lifetimes_; }

 private:
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

  void add_outputs(uint32_t step, Precision precision) {
    const graph::Node& node = graph_.nodes[step];
    for (const ValueId output : node.outputs) {
      if (last_[output] != kNever) add(output, step, precision);
    }
  }

  void add(ValueId output, uint32_t step, Precision precision) {
    const graph::Node& node = graph_.nodes[step];
    graph::Lifetime lifetime{planned_bytes(graph_.values[output], precision), step, last_[output],
                             std::nullopt};
    const auto slot = in_place_.of(node);
    if (slot && last_[node.inputs[*slot]] == step) {
      lifetime.in_place_of = index_of_[node.inputs[*slot]];
    }
    index_of_[output] = static_cast<uint32_t>(lifetimes_.size());
    lifetimes_.push_back(lifetime);
    values_.push_back(output);
  }

  const Graph& graph_;
  const graph::InPlaceOperands in_place_;
  std::vector<uint32_t> last_;                     // by value: the last step that needs it
  std::vector<std::optional<uint32_t>> index_of_;  // by value: its index in lifetimes_
  std::vector<ValueId> values_;
  std::vector<graph::Lifetime> lifetimes_;
};

// `precisions`: by node.
Status add_memory_plan(CompiledModel& model, const std::vector<Precision>& precisions) {
  const LifetimeTable table(model, precisions);
  const graph::MemoryPlan plan = graph::plan_memory(table.lifetimes());
  if (plan.arena_bytes > graph::kMaxArenaBytes) {
    return unsupported(
        fmt::format("its values need an arena of {} bytes; an archive may ask for at most {}",
                    plan.arena_bytes, graph::kMaxArenaBytes));
  }
  model.arena_bytes = plan.arena_bytes;
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    model.plan.push_back({table.values()[i], plan.offsets[i], table.lifetimes()[i].bytes});
  }
  return {};
}

// Checks that a loader will accept the name. Archives hold UTF-8 only, while names in ONNX files
// and file systems may be any bytes.
Status check_name(const std::string& name, std::string_view what) {
  if (is_utf8(name)) return {};
  return invalid_argument(fmt::format("the name of {} is not valid UTF-8", what));
}

Status check_names(const CompiledModel& model) {
  MILLRACE_RETURN_IF_ERROR(check_name(model.name, "the model"));
  for (const Value& value : model.graph.values)
    MILLRACE_RETURN_IF_ERROR(check_name(value.name, "a tensor"));
  for (const graph::Node& node : model.graph.nodes)
    MILLRACE_RETURN_IF_ERROR(check_name(node.name, "a node"));
  for (const auto* side : {&model.inputs, &model.outputs})
    for (const Boundary& boundary : *side)
      if (boundary.cpu.name.empty()) return invalid_argument("an input or output has no name");
  return {};
}

}  // namespace

Result<CompiledModel> assemble(Graph graph, const LoweringOptions& options, std::string name) {
  if (options.batch_size == 0) return invalid_argument("the batch size is 0");
  MILLRACE_RETURN_IF_ERROR(check_layout_names(graph, options));
  CompiledModel model;
  model.name = std::move(name);
  model.producer = "millrace";
  model.precision = options.precision;
  model.batch_size = options.batch_size;
  const CpuOperators cpu_operators =
      options.is_stage ? matching_operators(graph, options.cpu_operators) : options.cpu_operators;
  MILLRACE_ASSIGN_OR_RETURN(model.partitions,
                            place_nodes(graph, options.capabilities, cpu_operators));
  const graph::CpuValues on_cpu = graph::values_on_cpu(graph, model.partitions);
  const auto precisions = graph::node_precisions(graph, model.partitions, options.precision);
  const auto views = view_precisions(graph, precisions, options.precision);
  MILLRACE_ASSIGN_OR_RETURN(model.inputs,
                            make_boundaries(graph, graph.inputs, on_cpu.read, views, options));
  MILLRACE_ASSIGN_OR_RETURN(model.outputs,
                            make_boundaries(graph, graph.outputs, on_cpu.made, views, options));
  model.graph = std::move(graph);
  MILLRACE_RETURN_IF_ERROR(check_names(model));
  MILLRACE_RETURN_IF_ERROR(add_memory_plan(model, precisions));
  return model;
}

}  // namespace millrace::lowering
