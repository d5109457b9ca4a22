// Checks a decoded model from the outside in: names and scales of the inputs and outputs, both
// views of each against the value of the graph, and the partitions. Views are not trusted: each is
// described again from the graph, and the result must equal what the archive states. The checks of
// the memory plan are in check_plan.cpp, those of models with a network in check_dynamic.cpp.
#include "graph/archive/check.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "graph/archive/codec.h"
#include "graph/boundary_quantisation.h"
#include "graph/collective.h"
#include "graph/partitions.h"
#include "graph/vendor_quantisation.h"
#include "tensor/dimensions.h"

namespace millrace::graph {
namespace {

constexpr uint32_t kMaxBatchSize = 65536;

// Converts a shape to the 32-bit dimensions of a TensorDesc; nothing if a dimension does not fit.
std::optional<std::vector<uint32_t>> narrow(const Dims& shape) {
  std::vector<uint32_t> narrowed;
  for (const int64_t dim : shape) {
    if (dim < 0 || dim > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    narrowed.push_back(static_cast<uint32_t>(dim));
  }
  return narrowed;
}

Status check_cpu_view(const tensor::TensorDesc& cpu, const Value& value) {
  const auto shape = narrow(value.shape);
  if (!shape) return corrupt_data("a dimension does not fit into 32 bits");
  if (cpu == tensor::make_cpu_desc(cpu.name, value.type, *shape)) return {};
  return corrupt_data(
      fmt::format("its CPU view is not that of the graph's value '{}'", value.name));
}

// An HW view must equal the description that follows from the CPU view, the type, the layout and,
// for GENERIC, the order.
Status check_hw_view(const tensor::TensorDesc& hw, const tensor::TensorDesc& cpu) {
  const auto expected = hw.layout == tensor::Layout::kGeneric
                            ? tensor::permuted_view(cpu, hw.type, hw.order)
                            : tensor::make_hw_desc(cpu, hw.type, hw.layout);
  if (!expected.ok()) return corrupt_data(expected.status().message());
  if (hw == *expected) return {};
  return corrupt_data("its HW view does not follow from its CPU view");
}

// A requantised HW view must be in the vendor's form, and the graph must quantise the tensor in a
// different form.
Status check_requantised(const Boundary& boundary, const std::optional<BoundaryQuantisation>& own) {
  if (!boundary.hw || !own)
    return corrupt_data("its HW view is requantised, but the graph does not quantise it");
  const BoundaryQuantisation view{boundary.hw->type, boundary.quant};
  if (!is_vendor_form(view))
    return corrupt_data(
        fmt::format("its HW view is requantised to {} with scale {} and zero point {}; it must be "
                    "INT8 with a scale from 2^{} to 2^{} and zero point 0, rounded to nearest even",
                    to_string(view.type), view.parameters.scale, view.parameters.zero_point,
                    kLeastVendorExponent, kGreatestVendorExponent));
  if (view == own)
    return corrupt_data("its HW view is requantised to the form of the graph itself");
  return {};
}

// An HW view of integers for a FLOAT32 tensor must have the type, scale and zero point with which
// the graph quantises that tensor.
Status check_quantisation(const Boundary& boundary,
                          const std::optional<BoundaryQuantisation>& expected) {
  if (boundary.requantised) return check_requantised(boundary, expected);
  const tensor::DataType type = boundary.hw->type;
  if (boundary.cpu.type != tensor::DataType::kFloat32 || tensor::is_floating(type)) return {};
  if (BoundaryQuantisation{type, boundary.quant} == expected) return {};
  return corrupt_data("its HW view differs in type or scale from what the graph quantises");
}

Status check_boundary(const Boundary& boundary, const Graph& graph,
                      const std::optional<BoundaryQuantisation>& quantisation) {
  if (boundary.open) return corrupt_data("it is open, but the model has a graph");
  MILLRACE_RETURN_IF_ERROR(check_cpu_view(boundary.cpu, graph.values[boundary.value]));
  if (!boundary.hw) return boundary.requantised ? check_requantised(boundary, {}) : Status();
  MILLRACE_RETURN_IF_ERROR(check_hw_view(*boundary.hw, boundary.cpu));
  return check_quantisation(boundary, quantisation);
}

// Checks what does not depend on the graph: the number of inputs or outputs, their names and
// scales.
Status check_names(const std::vector<Boundary>& boundaries, const char* side) {
  if (boundaries.size() > kMaxBoundaries) {
    return corrupt_data(
        fmt::format("{} {}s; at most {} are supported", boundaries.size(), side, kMaxBoundaries));
  }
  std::unordered_set<std::string_view> names;
  for (const Boundary& boundary : boundaries) {
    const std::string& name = boundary.cpu.name;
    if (name.empty()) return corrupt_data(fmt::format("an {} has no name", side));
    if (!names.insert(name).second) {
      return corrupt_data(fmt::format("two {}s are named '{}'", side, name));
    }
    if (!std::isfinite(boundary.quant.scale) || boundary.quant.scale <= 0) {
      return corrupt_data(
          fmt::format("{} '{}': its scale is {}", side, name, boundary.quant.scale));
    }
  }
  return {};
}

Status check_side(const std::vector<Boundary>& boundaries, const Graph& graph, const char* side) {
  const auto quantisations = boundary_quantisations(graph);
  for (const Boundary& boundary : boundaries) {
    const Status status = check_boundary(boundary, graph, quantisations[boundary.value]);
    if (!status.ok()) {
      return status.with_context(fmt::format("{} '{}'", side, boundary.cpu.name));
    }
  }
  return {};
}

// No partition off the NPU may read an input, or make an output, that has an HW view.
// Requirement: the inputs and outputs name values of the graph.
Status check_views_off_npu(const CompiledModel& model) {
  const CpuValues on_cpu = values_on_cpu(model.graph, model.partitions);
  for (const Boundary& input : model.inputs) {
    if (!input.hw || !on_cpu.read[input.value]) continue;
    return corrupt_data(fmt::format(
        "input '{}' has an HW view, but a partition off the NPU reads it", input.cpu.name));
  }
  for (const Boundary& output : model.outputs) {
    if (!output.hw || !on_cpu.made[output.value]) continue;
    return corrupt_data(fmt::format(
        "output '{}' has an HW view, but a partition off the NPU makes it", output.cpu.name));
  }
  return {};
}

// The partitions must be contiguous, not empty, and cover all nodes in order.
Status check_coverage(const CompiledModel& model) {
  if (model.partitions.size() > kMaxPartitions) {
    return corrupt_data(fmt::format("{} partitions; at most {} are supported",
                                    model.partitions.size(), kMaxPartitions));
  }
  size_t next = 0;
  for (size_t i = 0; i < model.partitions.size(); ++i) {
    const Partition& partition = model.partitions[i];
    if (partition.first != next || partition.count == 0 ||
        partition.count > model.graph.nodes.size() - next) {
      return corrupt_data(fmt::format("partition {} ({} nodes from {}) does not follow at {} of {}",
                                      i, partition.count, partition.first, next,
                                      model.graph.nodes.size()));
    }
    next += partition.count;
  }
  if (next == model.graph.nodes.size()) return {};
  return corrupt_data(
      fmt::format("the partitions cover {} of {} nodes", next, model.graph.nodes.size()));
}

// Collective partitions must have only collectives, and all other partitions none.
// Requirement: check_coverage() is OK.
Status check_collectives(const CompiledModel& model) {
  for (const Partition& partition : model.partitions) {
    const bool collective = partition.kind == PartitionKind::kCollective;
    for (const Node& node :
         std::span(model.graph.nodes).subspan(partition.first, partition.count)) {
      if (is_collective(node.op) == collective) continue;
      return corrupt_data(fmt::format("node '{}' ({}) is in a partition of kind {}", node.name,
                                      name_of(node.op), name_of(partition.kind)));
    }
  }
  return {};
}

}  // namespace

Status check_boundary_names(const CompiledModel& model) {
  MILLRACE_RETURN_IF_ERROR(check_names(model.inputs, "input"));
  return check_names(model.outputs, "output");
}

Status check_boundaries(const CompiledModel& model) {
  MILLRACE_RETURN_IF_ERROR(check_boundary_names(model));
  MILLRACE_RETURN_IF_ERROR(check_side(model.inputs, model.graph, "input"));
  return check_side(model.outputs, model.graph, "output");
}

Status check_model(const CompiledModel& model) {
  if (model.batch_size < 1 || model.batch_size > kMaxBatchSize) {
    return corrupt_data(
        fmt::format("batch size {} is not from 1 to {}", model.batch_size, kMaxBatchSize));
  }
  if (model.network) return check_dynamic(model);
  if (!model.profiles.empty()) return corrupt_data("it has shape profiles, but no network");
  if (Status status = validate(model.graph); !status.ok()) return corrupt_data(status.message());
  MILLRACE_RETURN_IF_ERROR(check_boundaries(model));
  MILLRACE_RETURN_IF_ERROR(check_partitions(model));
  return check_plan(model);
}

Status check_partitions(const CompiledModel& model) {
  MILLRACE_RETURN_IF_ERROR(check_coverage(model));
  MILLRACE_RETURN_IF_ERROR(check_collectives(model));
  return check_views_off_npu(model);
}

}  // namespace millrace::graph
