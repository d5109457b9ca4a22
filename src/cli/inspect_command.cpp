// `millrace inspect`: describes a model as JSON first (inputs and outputs with their views,
// partitions, precisions, memory plan), and prints either that or a text made from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cli/commands.h"
#include "cli/inputs/colour_format.h"
#include "cli/inputs/picture_hint.h"
#include "cli/model_source.h"
#include "cli/notes.h"
#include "cli/onnx_description.h"
#include "cli/print_escaped.h"
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

std::string shape_text(const Json& shape) {
  if (shape.is_null()) return "of any rank";
  std::vector<std::string> dims;
  for (const Json& dim : shape) dims.push_back(dim.is_null() ? "?" : dim.dump());
  return fmt::format("[{}]", fmt::join(dims, ","));
}

void print_view(const char* label, const Json& view) {
  print_escaped("    {}  {} {} {}", label, view["type"].get<std::string>(),
                view["layout"].get<std::string>(), shape_text(view["shape"]));
  if (view.contains("bytes")) print_escaped(" {} bytes", view["bytes"].get<size_t>());
  if (view.contains("order"))
    print_escaped(" order {{{}}}", fmt::join(view["order"].get<std::vector<uint32_t>>(), ","));
  if (view.contains("preprocess_colour_format"))
    print_escaped("  preprocess as {}", view["preprocess_colour_format"].get<std::string>());
  print_escaped("\n");
}

// Prints the options with which pictures can be fed to the model. Text that is meant to be copied
// is on a line of its own.
void print_pictures(const Json& pictures) {
  print_escaped("    pictures  millrace run ... {}\n", pictures["run_options"].get<std::string>());
  for (const auto& [key, view] : {std::pair("preprocess_cpu", "CPU"), {"preprocess_hw", "HW "}})
    if (pictures.contains(key))
      print_escaped("              PreProcess, {}: {}\n", view, pictures[key].dump());
  print_escaped("              assumed, since the model does not say: {}\n",
                fmt::join(pictures["assumed"].get<std::vector<std::string>>(), ", "));
}

std::string scale_and_zero_point(const Json& form) {
  return fmt::format("scale {} zero point {}", form["scale"].get<double>(),
                     form["zero_point"].get<int>());
}

void print_quantisation(const Json& quantisation) {
  print_escaped("    {}\n", scale_and_zero_point(quantisation));
  if (!quantisation.contains("model")) return;
  const Json& model = quantisation["model"];
  print_escaped("    requantised: the model's own is {} {}\n", model["type"].get<std::string>(),
                scale_and_zero_point(model));
}

void print_tensors(const char* title, const Json& tensors) {
  print_escaped("{}\n", title);
  for (const Json& tensor : tensors) {
    print_escaped("  {}\n", tensor["name"].get<std::string>());
    print_view("CPU", tensor["cpu"]);
    if (tensor.contains("hw"))
      print_view("HW ", tensor["hw"]);
    else
      print_escaped("    HW   none: {}\n", tensor["why_no_hw"].get<std::string>());
    print_quantisation(tensor["quantisation"]);
    if (tensor.contains("pictures")) print_pictures(tensor["pictures"]);
  }
}

void print_partitions(const Json& partitions) {
  print_escaped("partitions\n");
  for (const Json& partition : partitions) {
    std::vector<std::string> counts;
    for (const auto& [name, count] : partition["by_operator"].items())
      counts.push_back(fmt::format("{} {}", count.get<int>(), name));
    print_escaped("  {}  {} operators from number {}: {}\n", partition["kind"].get<std::string>(),
                  partition["operators"].get<int>(), partition["first_operator"].get<int>(),
                  fmt::join(counts, ", "));
  }
}

void print_other_precisions(const Json& nodes) {
  if (nodes.empty()) return;
  print_escaped("operators in another precision\n");
  for (const Json& node : nodes)
    print_escaped("  {}  {} \"{}\"\n", node["precision"].get<std::string>(),
                  node["operator"].get<std::string>(), node["node"].get<std::string>());
}

void print_profiles(const Json& profiles, const std::string& hw_quantisation) {
  if (profiles.empty()) return;
  print_escaped("profiles, with HW views of quantised tensors in the {}'s form\n", hw_quantisation);
  for (const Json& profile : profiles) {
    print_escaped("  {}", profile["name"].get<std::string>());
    for (const auto& [name, shape] : profile["inputs"].items())
      print_escaped("  {} {}", name, shape_text(shape));
    print_escaped("\n");
  }
}

void print_text(const Json& model) {
  const bool dynamic = model["dynamic"].get<bool>();
  const auto columns = model["columns"].get<uint32_t>();
  print_escaped("{}  {}  batch {}{}{}\n", model["name"].get<std::string>(),
                model["precision"].get<std::string>(), model["batch_size"].get<int>(),
                columns == graph::kColumnsOfAUnit ? "" : fmt::format("  {} columns", columns),
                dynamic ? "  dynamic: each job sets the shapes" : "");
  print_tensors("inputs", model["inputs"]);
  print_tensors("outputs", model["outputs"]);
  if (!dynamic) print_partitions(model["partitions"]);
  if (!dynamic) print_other_precisions(model["other_precisions"]);
  print_escaped("operators\n");
  for (const auto& [name, count] : model["operators"].items())
    print_escaped("  {:<20} {}\n", name, count.get<int>());
  if (dynamic)
    return print_profiles(model["profiles"], model["hw_quantisation"].get<std::string>());
  const Json& plan = model["memory_plan"];
  print_escaped("memory plan\n  {} values in {} bytes ({} without reuse)\n", plan["values"].size(),
                plan["arena_bytes"].get<uint64_t>(), plan["bytes_without_reuse"].get<uint64_t>());
}

// Returns the columns that the model at `path` occupies where it is placed by columns. An ONNX file
// says nothing about that.
Result<uint32_t> columns_in(const std::string& path) {
  if (path.ends_with(".onnx")) return graph::kColumnsOfAUnit;
  MILLRACE_ASSIGN_OR_RETURN(const auto archive, model::Archive::open(path));
  return graph::columns_of(*archive);
}

// Shows what the file of a model declares that cannot be compiled, and why it cannot.
Status inspect_uncompiled(const InspectArguments& arguments, const Status& reason) {
  MILLRACE_ASSIGN_OR_RETURN(Json description, describe_onnx(arguments.model));
  description["not_compiled"] = reason.message();
  if (arguments.json)
    print_escaped_lines(json_lines(description));
  else
    print_onnx(description);
  print_note("the file is shown as it is, since it does not compile: " + reason.message());
  return {};
}

}  // namespace

Status check_inspect(const InspectArguments& arguments) {
  return check_flags(arguments.model, arguments.flags);
}

Status run_inspect(const InspectArguments& arguments) {
  const auto opened = open_model(arguments.model, arguments.flags);
  if (!opened.ok() && opened.status().code() == StatusCode::kUnsupported &&
      arguments.model.ends_with(".onnx"))
    return inspect_uncompiled(arguments, opened.status());
  MILLRACE_ASSIGN_OR_RETURN(const auto model, opened);
  Json description = describe(*model);
  MILLRACE_ASSIGN_OR_RETURN(description["columns"], columns_in(arguments.model));
  round_numbers(description);
  if (arguments.json)
    print_escaped_lines(json_lines(description));
  else
    print_text(description);
  return {};
}

}  // namespace millrace::cli
