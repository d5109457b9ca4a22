// StageLowering: the inputs and outputs of the graph, the report of nodes without a kernel, and the
// origins of nodes. An output of the graph is a value that a node makes, with the name and type
// that the network declares; an Identity or a Cast is added where the lowered value differs.
#include <fmt/format.h>

#include <algorithm>

#include "lowering/fallback_import.h"
#include "lowering/node_facts.h"
#include "lowering/stages/stage_lowering.h"

namespace millrace::lowering {

using graph::kNoValue;
using graph::ValueId;
using tensor::DataType;

namespace {

Status check_declared_type(DataType computed, DataType declared) {
  if (computed == DataType::kFloat32 && tensor::fits_float32(declared)) return {};
  return invalid_argument(fmt::format("the model declares it as {}, but it is computed as {}",
                                      tensor::to_string(declared), tensor::to_string(computed)));
}

// Marks all values that the marked values are computed from.
void mark_ancestors(const graph::Graph& graph, std::vector<bool>& needed) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](ValueId id) { return needed[id]; })) continue;
    for (const ValueId id : node->inputs) {
      if (id != kNoValue) needed[id] = true;
    }
  }
}

}  // namespace

Status StageLowering::add_whole_inputs() {
  for (const network::Input& input : request_.network.inputs) {
    MILLRACE_RETURN_IF_ERROR(find_value(input.name, scopes_.front()).status());
  }
  return {};
}

// The names of the values that this stage has to deliver: outputs of the network in their order,
// then, in ascending order, operands of the nodes that are left to later stages. If the stage is
// the whole network these are its outputs. Otherwise those are left out
// - that the caller knows, since an earlier stage made them;
// - that nodes left to later stages make;
// - that the network has as initializers, unless they are outputs.
std::vector<std::string> StageLowering::wanted_names() const {
  std::vector<std::string> names;
  for (const network::Output& output : request_.network.outputs) names.push_back(output.name);
  std::set<std::string> read;
  for (const size_t index : rest_) {
    const auto more = names_read_by(request_.network.nodes[index]);
    read.insert(more.begin(), more.end());
  }
  for (const network::Output& output : request_.network.outputs) read.erase(output.name);
  names.insert(names.end(), read.begin(), read.end());
  if (whole_ && rest_.empty()) return names;
  std::erase_if(names, [this](const std::string& name) {
    const bool stated =
        scopes_.front().initializers.contains(name) && !output_types_.contains(name);
    return stated || known_.contains(name) || waiting_.contains(name);
  });
  return names;
}

// Marks the values of the graph that outputs, or nodes that are not supported, depend on.
std::vector<bool> StageLowering::needed_values() const {
  const graph::Graph& graph = builder_.graph();
  std::vector<bool> needed(graph.values.size());
  const auto& values = scopes_.front().values;
  for (const auto& [name, id] : values) {
    if (coverage_.is_read_by_others(name)) needed[id] = true;
  }
  for (const std::string& name : wanted_names()) {
    const auto value = values.find(name);
    if (value != values.end()) needed[value->second] = true;
  }
  mark_ancestors(graph, needed);
  return needed;
}

// Reports nodes with types for which the device has no kernel. Nodes that no output depends on may
// have any types, since they will be dropped: for instance nodes whose results only a Shape reads.
void StageLowering::report_missing_kernels() {
  origins_.resize(builder_.graph().nodes.size());
  const graph::Graph& graph = builder_.graph();
  const std::vector<bool> needed = needed_values();
  const network::Node* reported = nullptr;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Origin& origin = origins_[i];
    // A node of the network may have become several nodes of the graph, one after the other.
    if (origin.node == nullptr || origin.node == reported) continue;
    if (std::ranges::none_of(graph.nodes[i].outputs, [&](ValueId id) { return needed[id]; }))
      continue;
    const Status status = request_.capabilities.check(graph, graph.nodes[i]);
    if (status.ok()) continue;
    coverage_.add_without_kernel(*origin.node, origin.scope->prefix + name_of(*origin.node),
                                 status.message());
    reported = origin.node;
  }
}

// Gives each node its origin. Nodes that were added at inputs and outputs have none.
void StageLowering::set_origins(graph::Graph* graph) const {
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = origins_[i];
    if (origin.node == nullptr) continue;
    graph->nodes[i].origins = {
        {origin.scope->prefix + name_of(*origin.node), fallback_name(*origin.node)}};
  }
}

Status StageLowering::add_whole_outputs() {
  std::unordered_set<std::string_view> names;
  for (const network::Output& output : request_.network.outputs) {
    const auto add = [&]() -> Status {
      if (!names.insert(output.name).second) return invalid_argument("the model lists it twice");
      const Result<ValueId> id = find_value(output.name, scopes_.front());
      if (!id.ok()) return invalid_argument("no node makes it");
      MILLRACE_RETURN_IF_ERROR(check_no_sequence(*id));
      MILLRACE_ASSIGN_OR_RETURN(const ValueId boundary,
                                boundary_value(output.name, *id, output.type));
      builder_.add_output(boundary);
      return {};
    };
    MILLRACE_RETURN_IF_ERROR(add().with_context(fmt::format("output '{}'", output.name)));
  }
  return {};
}

Status StageLowering::add_outputs(Stage* stage) {
  for (const std::string& name : wanted_names()) {
    const auto declared = output_types_.find(name);
    const DataType type = declared != output_types_.end() ? declared->second : DataType::kUnknown;
    const Result<ValueId> found = find_value(name, scopes_.front());
    // The value is made by a node of a later stage.
    if (!found.ok()) continue;
    MILLRACE_RETURN_IF_ERROR(
        check_no_sequence(*found).with_context(fmt::format("value '{}'", name)));
    // Later stages find weights as constants, and need not dequantise them in each run.
    MILLRACE_ASSIGN_OR_RETURN(const ValueId id, builder_.computed_if_constant(*found));
    if (builder_.value(id).constant) {
      MILLRACE_RETURN_IF_ERROR(add_constant_output(name, id, type, stage)
                                   .with_context(fmt::format("output '{}'", name)));
      continue;
    }
    Result<ValueId> boundary = boundary_value(name, id, type);
    if (!boundary.ok()) return boundary.status().with_context(fmt::format("output '{}'", name));
    builder_.add_output(*boundary);
    stage->outputs.push_back(name);
  }
  return {};
}

Status StageLowering::add_constant_output(const std::string& name, ValueId id, DataType type,
                                          Stage* stage) {
  if (type != DataType::kUnknown && type != builder_.value(id).type) {
    MILLRACE_RETURN_IF_ERROR(check_declared_type(builder_.value(id).type, type));
    MILLRACE_ASSIGN_OR_RETURN(id, builder_.emit(name, graph::Cast{type}, {id}));
  }
  graph::Value constant = builder_.value(id);
  constant.name = name;
  stage->constants.push_back(std::move(constant));
  return {};
}

// Returns a value that can be the output `name` of the graph: made by a node, of the declared type
// (any, if it is kUnknown), and no other output. Adds an Identity or a Cast if `id` is not such a
// value.
Result<ValueId> StageLowering::boundary_value(const std::string& name, ValueId id, DataType type) {
  graph::Value& value = builder_.value(id);
  ValueId boundary = id;
  if (type == DataType::kUnknown || value.type == type) {
    if (builder_.is_made_by_node(id) && !outputs_.contains(id)) {
      value.name = name;
    } else {
      MILLRACE_ASSIGN_OR_RETURN(boundary, builder_.add_node(name, graph::Unary{}, {id}));
    }
  } else {
    MILLRACE_RETURN_IF_ERROR(check_declared_type(value.type, type));
    if (value.name == name) value.name += "/FLOAT32";  // the result of the Cast has the name
    MILLRACE_ASSIGN_OR_RETURN(boundary, builder_.add_node(name, graph::Cast{type}, {id}));
  }
  outputs_.insert(boundary);
  return boundary;
}

void StageLowering::drop_unread_inputs(Stage* stage) const {
  graph::Graph& graph = stage->graph;
  std::vector<bool> needed(graph.values.size());
  for (const ValueId id : graph.outputs) needed[id] = true;
  mark_ancestors(graph, needed);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!needed[graph.inputs[i]]) continue;
    inputs.push_back(graph.inputs[i]);
    stage->inputs.push_back(input_names_[i]);
  }
  graph.inputs = std::move(inputs);
}

}  // namespace millrace::lowering
