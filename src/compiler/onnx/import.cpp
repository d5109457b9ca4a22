#include "compiler/onnx/import.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/onnx/coverage.h"
#include "compiler/onnx/early_opsets.h"
#include "compiler/onnx/fallback_import.h"
#include "compiler/onnx/graph_builder.h"
#include "compiler/onnx/graph_inputs.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/node_order.h"
#include "compiler/onnx/operator_table.h"
#include "compiler/onnx/opsets.h"
#include "compiler/onnx/tensor_reader.h"
#include "compiler/passes/passes.h"
#include "graph/capability.h"

namespace millrace::compiler {
namespace {

using tensor::DataType;

class Importer {
 public:
  Importer(::onnx::ModelProto& model, size_t model_bytes, std::filesystem::path directory)
      : model_(model), directory_(std::move(directory)), builder_(model_bytes) {}

  Result<graph::Graph> run(const InputShapes& input_shapes);

 private:
  Status index_initializers();
  Status add_inputs(const InputShapes& input_shapes);
  void find_consumed();
  Status import_node(::onnx::NodeProto& node);
  Status import_covered(::onnx::NodeProto& node);
  Status import_supported(::onnx::NodeProto& node, const OperatorEntry& entry, int opset);
  Status import_fallback(const ::onnx::NodeProto& node, int opset);
  Status check_new_kernels(size_t first_node) const;
  Status add_output(const ::onnx::ValueInfoProto& output);
  Result<ValueId> boundary_value(const std::string& name, ValueId id, DataType type);

  Result<ValueId> find_value(const std::string& name);
  Result<std::vector<ValueId>> find_operands(const ::onnx::NodeProto& node);
  void name_outputs(const ::onnx::NodeProto& node, const NodeImport& import, ValueId first,
                    ValueId first_new);
  std::vector<bool> needed_values() const;
  void report_missing_kernels();

  ::onnx::ModelProto& model_;
  std::filesystem::path directory_;
  GraphBuilder builder_;
  Opsets opsets_;
  Coverage coverage_{opsets_};
  std::unordered_map<std::string, ::onnx::TensorProto*> initializers_;
  std::unordered_set<std::string> given_;  // names of initializers and inputs
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> consumed_;       // names that nodes read or the graph puts out
  std::vector<const ::onnx::NodeProto*> origins_;  // by node of the graph; null at the boundary
  std::unordered_set<ValueId> outputs_;
};

Result<graph::Graph> Importer::run(const InputShapes& input_shapes) {
  MILLRACE_ASSIGN_OR_RETURN(opsets_, Opsets::read(model_));
  MILLRACE_RETURN_IF_ERROR(index_initializers());
  MILLRACE_RETURN_IF_ERROR(add_inputs(input_shapes));
  find_consumed();
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<int> order, node_order(model_.graph(), given_));
  for (const int index : order) {
    MILLRACE_RETURN_IF_ERROR(import_node(*model_.mutable_graph()->mutable_node(index)));
  }
  report_missing_kernels();
  MILLRACE_RETURN_IF_ERROR(coverage_.status());
  if (model_.graph().output_size() == 0) return invalid_argument("the model has no outputs");
  std::unordered_set<std::string_view> names;
  for (const auto& output : model_.graph().output()) {
    const Status status = names.insert(output.name()).second
                              ? add_output(output)
                              : invalid_argument("the model lists it twice");
    if (!status.ok()) return status.with_context(fmt::format("output '{}'", output.name()));
  }
  return builder_.take();
}

Status Importer::index_initializers() {
  ::onnx::GraphProto& graph = *model_.mutable_graph();
  if (graph.sparse_initializer_size() > 0) {
    return unsupported("the model has sparse initializers");
  }
  for (::onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (!initializers_.emplace(tensor.name(), &tensor).second) {
      return invalid_argument(fmt::format("there are two initializers '{}'", tensor.name()));
    }
    given_.insert(tensor.name());
  }
  return {};
}

Status Importer::add_inputs(const InputShapes& input_shapes) {
  MILLRACE_ASSIGN_OR_RETURN(auto inputs, resolve_inputs(model_.graph(), given_, input_shapes));
  for (InputDeclaration& input : inputs) {
    if (!given_.insert(input.name).second) {
      return invalid_argument(fmt::format("there are two inputs '{}'", input.name));
    }
    ValueId id = builder_.add_input(input.name, input.type, std::move(input.shape));
    if (tensor::is_floating(input.type) && input.type != DataType::kFloat32) {
      MILLRACE_ASSIGN_OR_RETURN(
          id, builder_.emit(input.name + "/FLOAT32", graph::Cast{DataType::kFloat32}, {id}));
    }
    values_.emplace(std::move(input.name), id);
  }
  if (inputs.empty()) return unsupported("the model has no inputs");
  origins_.resize(builder_.graph().nodes.size(), nullptr);
  return {};
}

void Importer::find_consumed() {
  for (const auto& node : model_.graph().node()) {
    consumed_.insert(node.input().begin(), node.input().end());
  }
  for (const auto& output : model_.graph().output()) consumed_.insert(output.name());
}

// Initializers are read on first use: unused ones cost nothing.
Result<ValueId> Importer::find_value(const std::string& name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return known->second;
  const auto initializer = initializers_.find(name);
  if (initializer == initializers_.end())
    return internal_error("value '" + name + "' is not there");
  MILLRACE_ASSIGN_OR_RETURN(graph::Value value,
                            read_tensor(std::move(*initializer->second), directory_));
  return values_.emplace(name, builder_.add_constant(std::move(value))).first->second;
}

Result<std::vector<ValueId>> Importer::find_operands(const ::onnx::NodeProto& node) {
  std::vector<ValueId> operands;
  for (const std::string& name : node.input()) {
    operands.push_back(kNoValue);
    if (!name.empty()) {
      MILLRACE_ASSIGN_OR_RETURN(operands.back(), find_value(name));
    }
  }
  MILLRACE_RETURN_IF_ERROR(align_operands(builder_, node, opsets_.of(node.domain()), operands));
  return operands;
}

// Which values of the graph lead to an output of the model, or to a node that was not imported.
std::vector<bool> Importer::needed_values() const {
  const graph::Graph& graph = builder_.graph();
  std::vector<bool> needed(graph.values.size());
  for (const auto& [name, id] : values_) {
    if (coverage_.is_read_by_others(name)) needed[id] = true;
  }
  for (const auto& output : model_.graph().output()) {
    const auto value = values_.find(output.name());
    if (value != values_.end()) needed[value->second] = true;
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](ValueId id) { return needed[id]; })) continue;
    for (const ValueId id : node->inputs) {
      if (id != kNoValue) needed[id] = true;
    }
  }
  return needed;
}

// Types for which no device has a kernel. Nodes that nothing needs, such as those that only a Shape
// reads, will be dropped and may have any.
void Importer::report_missing_kernels() {
  const graph::Graph& graph = builder_.graph();
  const std::vector<bool> needed = needed_values();
  const ::onnx::NodeProto* reported = nullptr;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ::onnx::NodeProto* origin = origins_[i];
    // An ONNX node may have become several nodes of the graph, one after the other.
    if (origin == nullptr || origin == reported) continue;
    if (std::ranges::none_of(graph.nodes[i].outputs, [&](ValueId id) { return needed[id]; }))
      continue;
    const Status status = graph::check_capability(graph, graph.nodes[i]);
    if (status.ok()) continue;
    coverage_.add_without_kernel(*origin, status.message());
    reported = origin;
  }
}

Status Importer::import_node(::onnx::NodeProto& node) {
  const int opset = opsets_.of(node.domain());
  if (find_operator(node.domain(), node.op_type(), opset) == nullptr &&
      !has_fallback(node, opset)) {
    coverage_.leave_out(node, "");
    return {};
  }
  if (coverage_.pass_over_dependent(node)) return {};
  const Status status = import_covered(node);
  if (status.code() == StatusCode::kUnsupported) {
    coverage_.leave_out(node, status.message());
    return {};
  }
  return status.with_context(NodeImport::describe(node));
}

// As operators of the graph where they cover the node and its types; else as a fallback. What an
// attempt that failed leaves in the graph is read by nothing.
Status Importer::import_covered(::onnx::NodeProto& node) {
  const int opset = opsets_.of(node.domain());
  const OperatorEntry* entry = find_operator(node.domain(), node.op_type(), opset);
  if (entry == nullptr) return import_fallback(node, opset);
  const size_t first_node = builder_.graph().nodes.size();
  const Status status = import_supported(node, *entry, opset);
  const bool refused = status.code() == StatusCode::kUnsupported;
  if (!refused && (!status.ok() || check_new_kernels(first_node).ok())) return status;
  if (!has_fallback(node, opset)) return status;
  const Status second = import_fallback(node, opset);
  return second.code() == StatusCode::kUnsupported && !refused ? status : second;
}

Status Importer::check_new_kernels(size_t first_node) const {
  const graph::Graph& graph = builder_.graph();
  for (size_t i = first_node; i < graph.nodes.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(graph::check_capability(graph, graph.nodes[i]));
  }
  return {};
}

Status Importer::import_fallback(const ::onnx::NodeProto& node, int opset) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<ValueId> operands, find_operands(node));
  MILLRACE_ASSIGN_OR_RETURN(graph::Fallback op, read_fallback(node, opset));
  const auto count = static_cast<size_t>(node.output_size());
  MILLRACE_ASSIGN_OR_RETURN(
      const std::vector<ValueId> outputs,
      builder_.emit_fallback(NodeImport::name_of(node), std::move(op), std::move(operands), count));
  origins_.resize(builder_.graph().nodes.size(), &node);
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = node.output(static_cast<int>(i));
    if (name.empty()) continue;
    builder_.value(outputs[i]).name = name;
    values_.insert_or_assign(name, outputs[i]);
  }
  return {};
}

Status check_operands(const OperatorEntry& entry, const std::vector<ValueId>& operands) {
  if (operands.size() < entry.required || operands.size() > entry.allowed) {
    const std::string allowed =
        entry.allowed == kAnyNumber ? " or more" : fmt::format(" to {}", entry.allowed);
    return invalid_argument(fmt::format("it has {} inputs where {}{} belong", operands.size(),
                                        entry.required, allowed));
  }
  // Lists of any length have no optional members.
  const size_t required = entry.allowed == kAnyNumber ? operands.size() : entry.required;
  for (size_t i = 0; i < required; ++i) {
    if (operands[i] == kNoValue)
      return invalid_argument(fmt::format("its input {} is left out", i));
  }
  return {};
}

Status Importer::import_supported(::onnx::NodeProto& node, const OperatorEntry& entry, int opset) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<ValueId> operands, find_operands(node));
  MILLRACE_RETURN_IF_ERROR(check_operands(entry, operands));
  if (node.output_size() == 0) return invalid_argument("it has no output");
  const auto first_new = static_cast<ValueId>(builder_.graph().values.size());
  NodeImport import(builder_, node, opset, std::move(operands));
  const Result<ValueId> first = entry.handler(import);
  origins_.resize(builder_.graph().nodes.size(), &node);
  MILLRACE_RETURN_IF_ERROR(import.attribute_status());
  MILLRACE_RETURN_IF_ERROR(first.status());
  for (int i = 1; i < node.output_size(); ++i) {
    if (import.extra_outputs()[static_cast<size_t>(i)] == kNoValue &&
        consumed_.contains(node.output(i)) && !node.output(i).empty()) {
      return unsupported(fmt::format("its output '{}' is used", node.output(i)));
    }
  }
  name_outputs(node, import, *first, first_new);
  return {};
}

// Values that the node made get the names the model has for them; one that was there before keeps
// its own and is known under both.
void Importer::name_outputs(const ::onnx::NodeProto& node, const NodeImport& import, ValueId first,
                            ValueId first_new) {
  for (int i = 0; i < node.output_size(); ++i) {
    const ValueId id = i == 0 ? first : import.extra_outputs()[static_cast<size_t>(i)];
    if (id == kNoValue || node.output(i).empty()) continue;
    if (id >= first_new) builder_.value(id).name = node.output(i);
    values_.emplace(node.output(i), id);
  }
}

Status Importer::add_output(const ::onnx::ValueInfoProto& output) {
  const std::string& name = output.name();
  if (values_.find(name) == values_.end() && initializers_.find(name) == initializers_.end()) {
    return invalid_argument("no node makes it");
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId id, find_value(name));
  DataType type = builder_.value(id).type;
  const int declared = output.type().tensor_type().elem_type();
  if (declared != ::onnx::TensorProto::UNDEFINED) {
    MILLRACE_ASSIGN_OR_RETURN(type, boundary_type(declared));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId boundary, boundary_value(name, id, type));
  outputs_.insert(boundary);
  builder_.add_output(boundary);
  return {};
}

// A value of its own for an output: of the declared type and name, made by a node, and no other
// output.
Result<ValueId> Importer::boundary_value(const std::string& name, ValueId id, DataType type) {
  graph::Value& value = builder_.value(id);
  if (value.type == type) {
    if (builder_.is_made_by_node(id) && !outputs_.contains(id)) {
      value.name = name;
      return id;
    }
    return builder_.add_node(name, graph::Unary{}, {id});
  }
  if (value.type != DataType::kFloat32 || !tensor::is_floating(type)) {
    return invalid_argument(fmt::format("it is {} in the model, but computed as {}",
                                        tensor::to_string(type), tensor::to_string(value.type)));
  }
  if (value.name == name) value.name += "/FLOAT32";
  return builder_.add_node(name, graph::Cast{type}, {id});
}

Result<graph::Graph> import_parsed(::onnx::ModelProto& model, size_t model_bytes,
                                   const std::filesystem::path& directory,
                                   const InputShapes& input_shapes) {
  Importer importer(model, model_bytes, directory);
  MILLRACE_ASSIGN_OR_RETURN(graph::Graph graph, importer.run(input_shapes));
  // Operands of computed constants are of no use any more.
  MILLRACE_RETURN_IF_ERROR(eliminate_dead_code(graph, {}));
  return graph;
}

Result<graph::Graph> import_file(const std::string& path, const InputShapes& input_shapes) {
  ::onnx::ModelProto model;
  MILLRACE_ASSIGN_OR_RETURN(const size_t bytes, read_model_file(path, &model));
  return import_parsed(model, bytes, std::filesystem::path(path).parent_path(), input_shapes);
}

}  // namespace

Result<graph::Graph> import_onnx(std::string_view content, const std::filesystem::path& directory,
                                 const InputShapes& input_shapes) {
  ::onnx::ModelProto model;
  MILLRACE_RETURN_IF_ERROR(parse_model(content, &model));
  return import_parsed(model, content.size(), directory, input_shapes);
}

Result<graph::Graph> import_onnx_file(const std::string& path, const InputShapes& input_shapes) {
  Result<graph::Graph> graph = import_file(path, input_shapes);
  if (!graph.ok()) return graph.status().with_context(path);
  return graph;
}

}  // namespace millrace::compiler
