#include "cli/inspect/description.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "cli/inputs/colour_format.h"
#include "cli/inputs/picture_hint.h"
#include "cli/report/json_text.h"
#include "graph/archive/codec.h"
#include "graph/boundary_quantisation.h"
#include "graph/network/network.h"
#include "graph/partitions.h"
#include "graph/precision_name.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns a list of dimensions, in which an open one is null; null if the rank is open, too.
Json describe_shape(const tensor::TensorDesc& desc, bool open) {
  if (open && desc.shape.empty()) return nullptr;
  Json shape = Json::array();
  for (const uint32_t dim : desc.shape)
    shape.push_back(dim == kOpenDimension ? Json(nullptr) : Json(dim));
  return shape;
}

Json describe_view(const tensor::TensorDesc& desc, uint32_t channels, bool open = false) {
  Json view = {{"type", to_string(desc.type)},
               {"layout", to_string(desc.layout)},
               {"shape", describe_shape(desc, open)}};
  if (!open) view["bytes"] = desc.bytes();
  if (desc.layout == tensor::Layout::kGeneric) view["order"] = desc.order;
  const std::string_view format = channels == 3 ? preprocess_colour_format(desc) : "";
  if (!format.empty()) view["preprocess_colour_format"] = format;
  return view;
}

// Explains why a tensor has no HW view.
std::string why_no_hw_view(const graph::CompiledModel& model, const graph::Boundary& boundary) {
  if (model.network != nullptr) return "the model is dynamic";
  return fmt::format(
      "it lies on a {} partition",
      graph::name_of(graph::kind_off_npu(model.graph, model.partitions, boundary.value)));
}

// By value of the graph: how the model itself quantises it.
using OwnForms = std::vector<std::optional<graph::BoundaryQuantisation>>;

Json describe_quantisation(const graph::Boundary& boundary, const OwnForms& own) {
  Json quantisation = {{"scale", boundary.quant.scale}, {"zero_point", boundary.quant.zero_point}};
  if (!boundary.requantised) return quantisation;
  const graph::BoundaryQuantisation& form = *own[boundary.value];
  quantisation["model"] = {{"type", to_string(form.type)},
                           {"scale", form.parameters.scale},
                           {"zero_point", form.parameters.zero_point}};
  return quantisation;
}

Json describe_boundary(const graph::CompiledModel& model, const graph::Boundary& boundary,
                       const OwnForms& own, bool is_input) {
  const bool picture = is_input && !boundary.open && boundary.cpu.shape.size() == 4;
  const uint32_t channels = picture ? boundary.cpu.shape[1] : 0;
  Json tensor = {{"name", boundary.cpu.name},
                 {"cpu", describe_view(boundary.cpu, channels, boundary.open)}};
  if (boundary.hw)
    tensor["hw"] = describe_view(*boundary.hw, channels);
  else
    tensor["why_no_hw"] = why_no_hw_view(model, boundary);
  tensor["quantisation"] = describe_quantisation(boundary, own);
  return tensor;
}

Json describe_operators(std::span<const graph::Node> nodes) {
  std::map<std::string, int> counts;
  for (const graph::Node& node : nodes) ++counts[graph::name_of(node.op)];
  return counts;
}

// Counts the operators of the network and of its subgraphs.
void count_operators(const network::Network& network, std::map<std::string, int>& counts) {
  using Subgraph = std::shared_ptr<const network::Network>;
  for (const network::Node& node : network.nodes) {
    ++counts[node.domain.empty() ? node.type : node.domain + "." + node.type];
    for (const network::Attribute& attribute : node.attributes)
      if (const auto* subgraph = std::get_if<Subgraph>(&attribute.value))
        count_operators(**subgraph, counts);
  }
}

// Counts the operators of the graph or, if the model is dynamic, those of the network.
Json describe_operators(const graph::CompiledModel& model) {
  if (model.network == nullptr) return describe_operators(model.graph.nodes);
  std::map<std::string, int> counts;
  count_operators(*model.network, counts);
  return counts;
}

Json describe_partitions(const graph::CompiledModel& model) {
  Json partitions = Json::array();
  for (const graph::Partition& partition : model.partitions) {
    const auto nodes = std::span(model.graph.nodes).subspan(partition.first, partition.count);
    partitions.push_back({{"kind", graph::name_of(partition.kind)},
                          {"first_operator", partition.first},
                          {"operators", partition.count},
                          {"by_operator", describe_operators(nodes)}});
  }
  return partitions;
}

// Lists the nodes of NPU partitions that compute in another precision than the model.
Json describe_other_precisions(const graph::CompiledModel& model) {
  Json nodes = Json::array();
  for (const graph::Partition& partition : model.partitions) {
    if (partition.kind != graph::PartitionKind::kNpu) continue;
    for (const graph::Node& node :
         std::span(model.graph.nodes).subspan(partition.first, partition.count))
      if (node.precision.value_or(model.precision) != model.precision)
        nodes.push_back({{"node", node.name},
                         {"operator", graph::name_of(node.op)},
                         {"precision", graph::name_of(*node.precision)}});
  }
  return nodes;
}

Json describe_plan(const graph::CompiledModel& model) {
  uint64_t without_reuse = 0;
  Json positions = Json::array();
  for (const graph::PlannedValue& planned : model.plan) {
    without_reuse += planned.bytes;
    positions.push_back({{"value", model.graph.values[planned.value].name},
                         {"offset", planned.offset},
                         {"bytes", planned.bytes}});
  }
  return {{"arena_bytes", model.arena_bytes},
          {"bytes_without_reuse", without_reuse},
          {"values", std::move(positions)}};
}

Json describe_profiles(const graph::CompiledModel& model) {
  Json profiles = Json::array();
  for (const graph::ShapeProfile& profile : model.profiles) {
    Json shapes = Json::object();
    for (size_t i = 0; i < model.inputs.size(); ++i)
      shapes[model.inputs[i].cpu.name] = profile.shapes[i];
    profiles.push_back({{"name", profile.name}, {"inputs", std::move(shapes)}});
  }
  return profiles;
}

Json describe(const graph::CompiledModel& model) {
  Json result = {{"name", model.name},
                 {"producer", model.producer},
                 {"precision", graph::precision_name(model, model.precision)},
                 {"batch_size", model.batch_size},
                 {"dynamic", model.network != nullptr}};
  const OwnForms own = graph::boundary_quantisations(model.graph);
  for (const graph::Boundary& boundary : model.inputs) {
    result["inputs"].push_back(describe_boundary(model, boundary, own, true));
    const Json pictures = boundary.open ? Json() : picture_hint(model, boundary);
    if (!pictures.is_null()) result["inputs"].back()["pictures"] = pictures;
  }
  for (const graph::Boundary& boundary : model.outputs)
    result["outputs"].push_back(describe_boundary(model, boundary, own, false));
  result["operators"] = describe_operators(model);
  if (model.network != nullptr) {
    result["hw_quantisation"] = name_of(model.hw_quantisation);
    result["profiles"] = describe_profiles(model);
    return result;
  }
  result["partitions"] = describe_partitions(model);
  result["other_precisions"] = describe_other_precisions(model);
  result["memory_plan"] = describe_plan(model);
  return result;
}

// Returns the columns that the model at `path` occupies where it is placed by columns. An ONNX file
// says nothing about that.
Result<uint32_t> columns_in(const std::string& path) {
  if (path.ends_with(".onnx")) return graph::kColumnsOfAUnit;
  MILLRACE_ASSIGN_OR_RETURN(const auto archive, model::Archive::open(path));
  return graph::columns_of(*archive);
}

}  // namespace

Result<Json> describe_model(const std::string& path, const CompileFlags& flags) {
  MILLRACE_ASSIGN_OR_RETURN(const auto model, open_model(path, flags));
  return describe_opened(*model, path);
}

Result<Json> describe_opened(const graph::CompiledModel& model, const std::string& path) {
  Json description = describe(model);
  MILLRACE_ASSIGN_OR_RETURN(description["columns"], columns_in(path));
  round_numbers(description);
  return description;
}

}  // namespace millrace::cli
