// Makes the CompiledModel of a network with open shapes. Inputs keep the dimensions that are stated
// or given. An output has a static shape only if the first stage makes it; otherwise only its type
// and rank are known, and all its dimensions are open. Options that need static shapes are refused.
#include "compiler/dynamic_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/utf8.h"
#include "fallback/operator_table.h"
#include "graph/network/check.h"
#include "lowering/node_facts.h"

namespace millrace::compiler {
namespace {

using graph::Boundary;
using network::Dimension;
using network::Network;
using tensor::DataType;

Boundary input_boundary(const network::Input& input) {
  Boundary boundary;
  boundary.open = !input.has_shape;
  std::vector<uint32_t> shape;
  for (const Dimension& dim : input.shape) {
    const bool open = dim.size == Dimension::kOpen;
    boundary.open = boundary.open || open;
    shape.push_back(open ? kOpenDimension : static_cast<uint32_t>(dim.size));
  }
  boundary.cpu = tensor::make_cpu_desc(input.name, input.type, std::move(shape));
  return boundary;
}

Boundary output_boundary(const graph::Value& value) {
  Boundary boundary;
  std::vector<uint32_t> shape;
  for (const int64_t dim : value.shape) shape.push_back(static_cast<uint32_t>(dim));
  boundary.cpu = tensor::make_cpu_desc(value.name, value.type, std::move(shape));
  return boundary;
}

// Describes an output by its declaration. All dimensions are open, since a file may declare
// dimensions that a job does not give.
Result<Boundary> output_boundary(const network::Output& output) {
  if (output.type == DataType::kUnknown) {
    return unsupported(fmt::format(
        "output '{}': the model does not state its type, and its shape is open", output.name));
  }
  Boundary boundary;
  boundary.open = true;
  boundary.cpu = tensor::make_cpu_desc(output.name, output.type,
                                       std::vector<uint32_t>(output.shape.size(), kOpenDimension));
  return boundary;
}

// Returns the outputs of the network that the stage makes, with their types and shapes.
std::map<std::string, graph::Value> made_by(const lowering::Stage& stage) {
  std::map<std::string, graph::Value> made;
  for (size_t i = 0; i < stage.outputs.size(); ++i)
    made.emplace(stage.outputs[i], stage.graph.values[stage.graph.outputs[i]]);
  for (const graph::Value& value : stage.constants) made.emplace(value.name, value);
  return made;
}

// The names by which --cpu-ops may refer to operators and nodes of the network. A node in a
// subgraph has two names: its own, and one with the path of the enclosing nodes.
struct Names {
  std::set<std::string> operators, nodes;

  void add(const Network& network, const std::string& prefix) {
    for (const network::Node& node : network.nodes) {
      const std::string name = lowering::name_of(node);
      operators.insert(node.type);
      nodes.insert({name, prefix + name});
      for (const network::Attribute& attribute : node.attributes)
        if (const Network* inner = lowering::subgraph_of(attribute))
          add(*inner, prefix + name + "/");
    }
  }
};

// Returns the names of all operators of a graph, and those of the functions of Unary and Binary.
std::set<std::string> operators_of_graphs() {
  std::set<std::string> names;
  const auto add_operators = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (names.insert(graph::name_of(graph::Operator(std::in_place_index<kIndex>))), ...);
  };
  add_operators(std::make_index_sequence<std::variant_size_v<graph::Operator>>());
  for (int i = 0; i < graph::kUnaryKindCount; ++i)
    names.insert(graph::name_of(static_cast<graph::UnaryKind>(i)));
  for (int i = 0; i < graph::kBinaryKindCount; ++i)
    names.insert(graph::name_of(static_cast<graph::BinaryKind>(i)));
  return names;
}

// Refuses names that cannot match anything. Passes run only when a job has determined shapes, so
// the name of any operator of a graph may match later.
Status check_cpu_operators(const Network& network, const lowering::CpuOperators& cpu_operators) {
  if (cpu_operators.empty()) return {};
  Names names;
  names.add(network, "");
  const std::set<std::string> known = operators_of_graphs();
  for (const std::string& name : cpu_operators) {
    if (names.operators.contains(name) || names.nodes.contains(name) || known.contains(name) ||
        fallback::find_operator(name) != nullptr)
      continue;
    return invalid_argument(
        fmt::format("the model has no operator '{}' to put on the CPU, and no node of that name; "
                    "its operators are: {}",
                    name, fmt::join(names.operators, ", ")));
  }
  return {};
}

// Checks options and network as strictly as a loader does, so that what compiles can be loaded.
Status check(const Network& network, const CompileOptions& options, const std::string& name) {
  if (options.batch_size == 0) return invalid_argument("the batch size is 0");
  if (!options.hw_layouts.empty()) {
    return invalid_argument(
        "a HW layout is given, but shapes of this model are open: its inputs and outputs have no "
        "HW view");
  }
  if (!options.full_precision.empty()) {
    return invalid_argument(
        "operators in FP32 are given, but shapes of this model are open: its operators are known "
        "only when it runs; fix the shapes by --input-shape");
  }
  if (options.as_written) {
    return invalid_argument(
        "a reference needs static shapes, but shapes of this model are open: fix them by "
        "--input-shape");
  }
  MILLRACE_RETURN_IF_ERROR(check_cpu_operators(network, options.cpu_operators));
  if (!is_utf8(name)) return invalid_argument("the name of the model is not valid UTF-8");
  return network::check(network);
}

// Whether static models of the network can have quantised inputs or outputs.
bool may_quantise(const Network& network) {
  return std::ranges::any_of(network.nodes, [](const network::Node& node) {
    return node.type == "QuantizeLinear" || node.type == "DequantizeLinear";
  });
}

}  // namespace

void drop_unneeded(Network& network) {
  std::unordered_set<std::string> needed;
  for (const network::Output& output : network.outputs) needed.insert(output.name);
  std::vector<network::Node> kept;
  for (auto node = network.nodes.rbegin(); node != network.nodes.rend(); ++node) {
    const auto is_needed = [&](const std::string& name) { return needed.contains(name); };
    if (std::ranges::none_of(node->outputs, is_needed)) continue;
    const auto names = lowering::names_read_by(*node);
    needed.insert(names.begin(), names.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  network.nodes = std::move(kept);
  std::erase_if(network.initializers,
                [&](const graph::Value& value) { return !needed.contains(value.name); });
}

Result<graph::CompiledModel> make_dynamic(Network network, const lowering::Stage& first_stage,
                                          const CompileOptions& options, std::string name) {
  MILLRACE_RETURN_IF_ERROR(check(network, options, name));
  graph::CompiledModel model;
  model.name = std::move(name);
  model.producer = "millrace";
  model.precision = options.precision;
  model.batch_size = options.batch_size;
  // The setting is stored only if it can have an effect, since older runtimes refuse an archive
  // that has it.
  if (may_quantise(network)) model.hw_quantisation = options.hw_quantisation;
  model.cpu_operators.assign(options.cpu_operators.begin(), options.cpu_operators.end());
  for (const network::Input& input : network.inputs) model.inputs.push_back(input_boundary(input));
  const auto made = made_by(first_stage);
  for (const network::Output& output : network.outputs) {
    const auto value = made.find(output.name);
    if (value != made.end()) {
      model.outputs.push_back(output_boundary(value->second));
      continue;
    }
    MILLRACE_ASSIGN_OR_RETURN(Boundary boundary, output_boundary(output));
    model.outputs.push_back(std::move(boundary));
  }
  model.network = std::make_shared<const Network>(std::move(network));
  return model;
}

}  // namespace millrace::compiler
