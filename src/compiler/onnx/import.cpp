#include "compiler/onnx/import.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "compiler/onnx/graph_builder.h"
#include "compiler/onnx/graph_inputs.h"
#include "compiler/onnx/node_order.h"
#include "compiler/onnx/operator_table.h"
#include "compiler/onnx/tensor_reader.h"
#include "compiler/onnx/unsupported_report.h"
#include "compiler/passes/passes.h"
#include "model/foreign_file.h"

namespace millrace::compiler {
namespace {

using tensor::DataType;

// Limit of the protobuf encoding.
constexpr size_t kMaxModelBytes = 0x7fffffff;

class Importer {
 public:
  Importer(::onnx::ModelProto& model, size_t model_bytes, std::filesystem::path directory)
      : model_(model), directory_(std::move(directory)), builder_(model_bytes) {}

  Result<graph::Graph> run(const InputShapes& input_shapes);

 private:
  Status read_opsets();
  Status index_initializers();
  Status add_inputs(const InputShapes& input_shapes);
  void find_consumed();
  Status import_node(::onnx::NodeProto& node);
  Status import_supported(::onnx::NodeProto& node, const OperatorEntry& entry, int opset);
  Status add_output(const ::onnx::ValueInfoProto& output);
  Result<ValueId> boundary_value(const std::string& name, ValueId id, DataType type);

  Result<ValueId> find_value(const std::string& name);
  Result<std::vector<ValueId>> find_operands(const ::onnx::NodeProto& node);
  void name_outputs(const ::onnx::NodeProto& node, const NodeImport& import, ValueId first,
                    ValueId first_new);
  void give_up(const ::onnx::NodeProto& node, int opset, const std::string& reason);
  int opset_of(const std::string& domain) const;

  ::onnx::ModelProto& model_;
  std::filesystem::path directory_;
  GraphBuilder builder_;
  UnsupportedReport report_;
  std::unordered_map<std::string, int> opsets_;  // by domain, "" for the default one
  std::unordered_map<std::string, ::onnx::TensorProto*> initializers_;
  std::unordered_set<std::string> given_;  // names of initializers and inputs
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> consumed_;     // names that nodes read or the graph puts out
  std::unordered_set<std::string> unavailable_;  // outputs of nodes that are not supported
  std::unordered_set<ValueId> outputs_;
};

Result<graph::Graph> Importer::run(const InputShapes& input_shapes) {
  MILLRACE_RETURN_IF_ERROR(read_opsets());
  MILLRACE_RETURN_IF_ERROR(index_initializers());
  MILLRACE_RETURN_IF_ERROR(add_inputs(input_shapes));
  find_consumed();
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<int> order, node_order(model_.graph(), given_));
  for (const int index : order) {
    MILLRACE_RETURN_IF_ERROR(import_node(*model_.mutable_graph()->mutable_node(index)));
  }
  MILLRACE_RETURN_IF_ERROR(report_.status());
  if (model_.graph().output_size() == 0) return invalid_argument("the model has no outputs");
  for (const auto& output : model_.graph().output()) {
    const Status status = add_output(output);
    if (!status.ok()) return status.with_context(fmt::format("output '{}'", output.name()));
  }
  return builder_.take();
}

Status Importer::read_opsets() {
  for (const auto& entry : model_.opset_import()) {
    const std::string domain = entry.domain() == "ai.onnx" ? "" : entry.domain();
    opsets_[domain] = static_cast<int>(std::clamp<int64_t>(entry.version(), 0, 1 << 30));
  }
  const int opset = opset_of("");
  if (opset >= kMinOpset && opset <= kMaxOpset) return {};
  if (opset == 0) return invalid_argument("the model does not state the opset of domain ai.onnx");
  return unsupported(
      fmt::format("the model uses opset {} of domain ai.onnx; {} to {} are supported", opset,
                  kMinOpset, kMaxOpset));
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
  return {};
}

void Importer::find_consumed() {
  for (const auto& node : model_.graph().node()) {
    consumed_.insert(node.input().begin(), node.input().end());
  }
  for (const auto& output : model_.graph().output()) consumed_.insert(output.name());
}

int Importer::opset_of(const std::string& domain) const {
  const auto entry = opsets_.find(domain == "ai.onnx" ? "" : domain);
  return entry != opsets_.end() ? entry->second : 0;
}

// Initializers are read on first use: those that nobody uses cost nothing.
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
  return operands;
}

void Importer::give_up(const ::onnx::NodeProto& node, int opset, const std::string& reason) {
  report_.add(NodeImport::name_of(node), node.op_type(), node.domain(), opset, reason);
  unavailable_.insert(node.output().begin(), node.output().end());
}

Status Importer::import_node(::onnx::NodeProto& node) {
  const int opset = opset_of(node.domain());
  const OperatorEntry* entry = find_operator(node.domain(), node.op_type(), opset);
  if (entry == nullptr) {
    give_up(node, opset, "");
    return {};
  }
  // What follows an unsupported node has no shape: it is only looked up in the table.
  const bool follows_unsupported = std::ranges::any_of(
      node.input(), [this](const std::string& name) { return unavailable_.contains(name); });
  if (follows_unsupported) {
    unavailable_.insert(node.output().begin(), node.output().end());
    return {};
  }
  const Status status = import_supported(node, *entry, opset);
  if (status.code() == StatusCode::kUnsupported) {
    give_up(node, opset, status.message());
    return {};
  }
  return status.with_context(NodeImport::describe(node));
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

Status parse(std::string_view content, ::onnx::ModelProto* model) {
  if (model->ParsePartialFromArray(content.data(), static_cast<int>(content.size())) &&
      model->has_graph()) {
    return {};
  }
  const auto bytes = std::as_bytes(std::span(content));
  if (model::looks_like_onnx(bytes))
    return corrupt_data("this begins like an ONNX model, but is damaged or has no graph");
  return corrupt_data("this is not an ONNX model; " + model::describe_foreign(bytes));
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

Status too_large() {
  return unsupported("the file is larger than 2 GiB; store its weights as external data");
}

// The content of a file is gone when its model is imported: large weights are in memory once.
Status parse_file(const std::string& path, size_t bytes, ::onnx::ModelProto* model) {
  std::string content(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error("open", errno);
  file.read(content.data(), static_cast<std::streamsize>(bytes));
  if (!file) return Status(StatusCode::kIoError, "cannot be read");
  return parse(content, model);
}

Result<graph::Graph> import_file(const std::string& path, const InputShapes& input_shapes) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return io_error("open", error.value());
  if (bytes > kMaxModelBytes) return too_large();
  ::onnx::ModelProto model;
  MILLRACE_RETURN_IF_ERROR(parse_file(path, bytes, &model));
  return import_parsed(model, bytes, std::filesystem::path(path).parent_path(), input_shapes);
}

}  // namespace

Result<graph::Graph> import_onnx(std::string_view content, const std::filesystem::path& directory,
                                 const InputShapes& input_shapes) {
  if (content.size() > kMaxModelBytes) return too_large();
  ::onnx::ModelProto model;
  MILLRACE_RETURN_IF_ERROR(parse(content, &model));
  return import_parsed(model, content.size(), directory, input_shapes);
}

Result<graph::Graph> import_onnx_file(const std::string& path, const InputShapes& input_shapes) {
  Result<graph::Graph> graph = import_file(path, input_shapes);
  if (!graph.ok()) return graph.status().with_context(path);
  return graph;
}

}  // namespace millrace::compiler
