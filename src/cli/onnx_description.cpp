#include "cli/onnx_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <vector>

#include "cli/print_escaped.h"
#include "compiler/onnx/model_file.h"

namespace millrace::cli {
namespace {

using OnnxJson = nlohmann::ordered_json;

OnnxJson declared_shape(const ::onnx::TypeProto::Tensor& type) {
  if (!type.has_shape()) return nullptr;
  OnnxJson shape = OnnxJson::array();
  for (const auto& dim : type.shape().dim()) {
    if (dim.has_dim_value())
      shape.push_back(dim.dim_value());
    else
      shape.push_back(dim.has_dim_param() ? OnnxJson(dim.dim_param()) : OnnxJson(nullptr));
  }
  return shape;
}

std::vector<std::string> dimension_texts(const OnnxJson& shape) {
  std::vector<std::string> dims;
  for (const OnnxJson& dim : shape)
    dims.push_back(dim.is_null() ? "?" : dim.is_string() ? dim.get<std::string>() : dim.dump());
  return dims;
}

OnnxJson declared_tensor(const ::onnx::ValueInfoProto& value) {
  OnnxJson tensor = {{"name", value.name()}};
  if (!value.type().has_tensor_type()) return tensor;  // a sequence or a map
  const auto& type = value.type().tensor_type();
  tensor["type"] = ::onnx::TensorProto_DataType_Name(
      static_cast<::onnx::TensorProto_DataType>(type.elem_type()));
  tensor["shape"] = declared_shape(type);
  return tensor;
}

// Returns the operator of a node, with its domain if that is not the standard's.
std::string named_operator(const ::onnx::NodeProto& node) {
  const std::string& domain = node.domain();
  return domain.empty() || domain == "ai.onnx" ? node.op_type() : domain + "." + node.op_type();
}

template <class Nodes>
void count_nodes(const Nodes& nodes, std::map<std::string, int>& counts) {
  for (const ::onnx::NodeProto& node : nodes) {
    ++counts[named_operator(node)];
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count_nodes(attribute.g().node(), counts);
      for (const ::onnx::GraphProto& graph : attribute.graphs()) count_nodes(graph.node(), counts);
    }
  }
}

OnnxJson counted_operators(const ::onnx::ModelProto& model) {
  std::map<std::string, int> counts;
  count_nodes(model.graph().node(), counts);
  for (const auto& function : model.functions()) count_nodes(function.node(), counts);
  return counts;
}

template <class Dimensions>
void note_type(const std::string& value, int type, const Dimensions& shape, DrawnGraph& drawn) {
  drawn.types[value] = fmt::format(
      "{} [{}]", ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(type)),
      fmt::join(shape, ","));
}

// Notes the type of a tensor whose shape is declared.
void note_declared(const ::onnx::ValueInfoProto& value, DrawnGraph& drawn) {
  const auto& type = value.type().tensor_type();
  if (!value.type().has_tensor_type() || !type.has_shape()) return;
  note_type(value.name(), type.elem_type(), dimension_texts(declared_shape(type)), drawn);
}

void print_declared(const char* title, const OnnxJson& tensors) {
  print_escaped("{}\n", title);
  for (const OnnxJson& tensor : tensors) {
    const bool has_shape = tensor.contains("shape") && !tensor["shape"].is_null();
    const auto dims = dimension_texts(has_shape ? tensor["shape"] : OnnxJson());
    print_escaped("  {}  {} {}\n", tensor["name"].get<std::string>(),
                  tensor.contains("type") ? tensor["type"].get<std::string>() : "no tensor",
                  has_shape ? fmt::format("[{}]", fmt::join(dims, ",")) : "");
  }
}

}  // namespace

Result<OnnxJson> describe_onnx(const std::string& path) {
  ::onnx::ModelProto model;
  const Result<size_t> bytes = compiler::read_model_file(path, &model);
  if (!bytes.ok()) return bytes.status().with_context(path);
  OnnxJson description = {{"name", model.graph().name()},
                          {"producer", model.producer_name()},
                          {"inputs", OnnxJson::array()},
                          {"outputs", OnnxJson::array()}};
  for (const auto& import : model.opset_import())
    description["opsets"][import.domain().empty() ? "ai.onnx" : import.domain()] = import.version();
  std::set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) initializers.insert(tensor.name());
  for (const auto& input : model.graph().input())
    if (!initializers.contains(input.name()))
      description["inputs"].push_back(declared_tensor(input));
  for (const auto& output : model.graph().output())
    description["outputs"].push_back(declared_tensor(output));
  description["operators"] = counted_operators(model);
  return description;
}

Result<DrawnGraph> drawn_onnx(const std::string& path) {
  ::onnx::ModelProto model;
  const Result<size_t> bytes = compiler::read_model_file(path, &model);
  if (!bytes.ok()) return bytes.status().with_context(path);
  DrawnGraph drawn;
  drawn.name = model.graph().name();
  for (const auto& tensor : model.graph().initializer())
    note_type(tensor.name(), tensor.data_type(), tensor.dims(), drawn);
  for (const auto& input : model.graph().input()) {
    if (drawn.types.contains(input.name())) continue;  // an initializer
    drawn.inputs.push_back({input.name(), input.name()});
  }
  for (const auto& output : model.graph().output())
    drawn.outputs.push_back({output.name(), output.name()});
  for (const auto* values :
       {&model.graph().input(), &model.graph().output(), &model.graph().value_info()})
    for (const auto& value : *values) note_declared(value, drawn);
  for (const ::onnx::NodeProto& node : model.graph().node())
    drawn.nodes.push_back({.operation = named_operator(node),
                           .name = node.name(),
                           .details = "",
                           .inputs = {node.input().begin(), node.input().end()},
                           .outputs = {node.output().begin(), node.output().end()},
                           .part = ""});
  return drawn;
}

void print_onnx(const OnnxJson& description) {
  print_escaped("{}  by {}\n", description["name"].get<std::string>(),
                description["producer"].get<std::string>());
  if (description.contains("opsets"))
    for (const auto& [domain, version] : description["opsets"].items())
      print_escaped("opset {} of {}\n", version.get<int64_t>(), domain);
  print_declared("inputs", description["inputs"]);
  print_declared("outputs", description["outputs"]);
  print_escaped("operators\n");
  for (const auto& [name, count] : description["operators"].items())
    print_escaped("  {:<20} {}\n", name, count.get<int>());
}

}  // namespace millrace::cli
