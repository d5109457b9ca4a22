// Reads a graph and, recursively, the subgraphs of its nodes. Functions are inlined first. Nodes
// are then sorted (node_order.h), names that a subgraph reads from enclosing graphs become its
// captures, and only initializers that something reads are converted. Protobuf data is released as
// it is read, so that weights are in memory once.
#include "compiler/onnx/network_reader.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/onnx/attribute_reader.h"
#include "compiler/onnx/functions.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/narrow_types.h"
#include "compiler/onnx/node_order.h"
#include "compiler/onnx/opsets.h"
#include "compiler/onnx/tensor_reader.h"
#include "lowering/node_facts.h"
#include "lowering/operators/element_types.h"

namespace millrace::compiler {
namespace {

using network::Network;
using tensor::DataType;
using Names = std::unordered_set<std::string>;

network::Dimension read_dimension(const ::onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return {dim.dim_value(), ""};
  return {network::Dimension::kOpen, dim.dim_param()};
}

// Reads name and shape of a declaration; the type is read by the caller.
network::Input read_declaration(const ::onnx::ValueInfoProto& value) {
  network::Input result;
  result.name = value.name();
  const auto& type = value.type().tensor_type();
  result.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) result.shape.push_back(read_dimension(dim));
  return result;
}

Result<network::Input> read_input(const ::onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) return unsupported("it is not a tensor");
  network::Input result = read_declaration(input);
  MILLRACE_ASSIGN_OR_RETURN(result.type,
                            lowering::boundary_type(input.type().tensor_type().elem_type()));
  return result;
}

// Returns the type of an output as Millrace computes it. Among the supported operators only
// classifiers have outputs of strings or maps: class labels that are strings become their indices,
// and maps from classes to scores become tensors of the scores.
int computed_type(const ::onnx::TypeProto& type) {
  if (type.has_sequence_type() && type.sequence_type().elem_type().has_map_type())
    return type.sequence_type().elem_type().map_type().value_type().tensor_type().elem_type();
  const int declared = type.tensor_type().elem_type();
  return declared == ::onnx::TensorProto::STRING ? ::onnx::TensorProto::INT64 : declared;
}

Result<network::Output> read_output(const ::onnx::ValueInfoProto& output) {
  network::Output result = read_declaration(output);
  const int type = computed_type(output.type());
  if (type != ::onnx::TensorProto::UNDEFINED) {
    MILLRACE_ASSIGN_OR_RETURN(result.type, lowering::boundary_type(type));
  }
  return result;
}

// Reads a parameter or result of a subgraph. Its type may be unknown until the subgraph runs.
network::Input read_inner(const ::onnx::ValueInfoProto& value) {
  network::Input result = read_declaration(value);
  const auto type = lowering::boundary_type(value.type().tensor_type().elem_type());
  if (type.ok()) result.type = *type;
  return result;
}

class NetworkReader {
 public:
  NetworkReader(std::map<std::string, int> opsets, std::filesystem::path directory)
      : opsets_(std::move(opsets)), directory_(std::move(directory)) {}

  Result<Network> read(::onnx::GraphProto& graph, bool is_model);

 private:
  Status read_boundary(const ::onnx::GraphProto& graph, bool is_model, Network* result,
                       Names* given);
  Result<network::Node> read_node(::onnx::NodeProto& node);
  Status read_attributes(::onnx::NodeProto& node, network::Node* result);
  Status read_initializers(::onnx::GraphProto& graph, Network* result);

  std::map<std::string, int> opsets_;
  std::filesystem::path directory_;
};

Status index_initializers(const ::onnx::GraphProto& graph, Names* given) {
  if (graph.sparse_initializer_size() > 0) {
    return unsupported("the model has sparse initializers");
  }
  for (const ::onnx::TensorProto& tensor : graph.initializer()) {
    if (!given->insert(tensor.name()).second) {
      return invalid_argument(fmt::format("there are two initializers '{}'", tensor.name()));
    }
  }
  return {};
}

Status NetworkReader::read_boundary(const ::onnx::GraphProto& graph, bool is_model, Network* result,
                                    Names* given) {
  const Names initializers = *given;
  for (const auto& input : graph.input()) {
    if (initializers.contains(input.name())) continue;
    if (!given->insert(input.name()).second)
      return invalid_argument(fmt::format("there are two inputs '{}'", input.name()));
    Result<network::Input> read = is_model ? read_input(input) : read_inner(input);
    if (!read.ok()) return read.status().with_context(fmt::format("input '{}'", input.name()));
    result->inputs.push_back(*std::move(read));
  }
  Names outputs;
  for (const auto& output : graph.output()) {
    Result<network::Output> read = is_model ? read_output(output) : read_inner(output);
    if (is_model && !outputs.insert(output.name()).second)
      read = invalid_argument("the model lists it twice");
    if (!read.ok()) return read.status().with_context(fmt::format("output '{}'", output.name()));
    result->outputs.push_back(*std::move(read));
  }
  return {};
}

Status NetworkReader::read_attributes(::onnx::NodeProto& node, network::Node* result) {
  Names names;
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (!names.insert(attribute.name()).second)
      return invalid_argument(fmt::format("its attribute '{}' stands twice", attribute.name()));
    network::Attribute& entry = result->attributes.emplace_back();
    entry.name = attribute.name();
    if (attribute.has_g()) {
      MILLRACE_ASSIGN_OR_RETURN(Network inner, read(*attribute.mutable_g(), false));
      entry.value = std::make_shared<const Network>(std::move(inner));
    } else {
      MILLRACE_ASSIGN_OR_RETURN(entry.value, read_attribute(attribute));
    }
    attribute.Clear();
  }
  return {};
}

Result<network::Node> NetworkReader::read_node(::onnx::NodeProto& node) {
  network::Node result;
  result.name = node.name();
  result.domain = canonical_domain(node.domain());
  result.type = node.op_type();
  result.inputs.assign(node.input().begin(), node.input().end());
  result.outputs.assign(node.output().begin(), node.output().end());
  if (result.domain == lowering::kCarriedDomain)
    return invalid_argument(
        fmt::format("{}: its domain '{}' is for operators that only the compiler makes",
                    lowering::describe(result), result.domain));
  MILLRACE_RETURN_IF_ERROR(read_attributes(node, &result).with_context(lowering::describe(result)));
  return result;
}

// Reads the initializers that a node or output reads. Others may have any type.
Status NetworkReader::read_initializers(::onnx::GraphProto& graph, Network* result) {
  Names read;
  for (const network::Node& node : result->nodes) {
    const auto names = lowering::names_read_by(node);
    read.insert(names.begin(), names.end());
  }
  for (const network::Output& output : result->outputs) read.insert(output.name);
  for (::onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (!read.contains(tensor.name())) continue;
    MILLRACE_ASSIGN_OR_RETURN(graph::Value value, read_tensor(std::move(tensor), directory_));
    result->initializers.push_back(std::move(value));
    tensor.Clear();
  }
  return {};
}

// In a model, unlike a subgraph, every value must be made or given.
Status refuse_missing(const Network& network, const NodeOrder& order) {
  if (order.missing.empty()) return {};
  const auto& [name, reader] = order.missing.front();
  if (reader == network.nodes.size())
    return invalid_argument(fmt::format("output '{}': no node makes it", name));
  return invalid_argument(
      fmt::format("{}: its input '{}' is made by no node and is no input or initializer",
                  lowering::describe(network.nodes[reader]), name));
}

Result<Network> NetworkReader::read(::onnx::GraphProto& graph, bool is_model) {
  Network result;
  result.opsets = opsets_;
  Names given;
  MILLRACE_RETURN_IF_ERROR(index_initializers(graph, &given));
  MILLRACE_RETURN_IF_ERROR(read_boundary(graph, is_model, &result, &given));
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    MILLRACE_ASSIGN_OR_RETURN(network::Node read, read_node(node));
    result.nodes.push_back(std::move(read));
  }
  MILLRACE_ASSIGN_OR_RETURN(const NodeOrder order, node_order(result, given));
  if (is_model) MILLRACE_RETURN_IF_ERROR(refuse_missing(result, order));
  for (const auto& [name, reader] : order.missing) result.captures.push_back(name);
  std::ranges::sort(result.captures);
  std::vector<network::Node> nodes;
  for (const size_t index : order.order) nodes.push_back(std::move(result.nodes[index]));
  result.nodes = std::move(nodes);
  MILLRACE_RETURN_IF_ERROR(read_initializers(graph, &result));
  return result;
}

Result<Network> read_parsed(::onnx::ModelProto& model, const std::filesystem::path& directory) {
  MILLRACE_RETURN_IF_ERROR(inline_functions(model));
  state_narrow_types(*model.mutable_graph());
  MILLRACE_ASSIGN_OR_RETURN(auto opsets, read_opsets(model));
  MILLRACE_ASSIGN_OR_RETURN(
      Network network,
      NetworkReader(std::move(opsets), directory).read(*model.mutable_graph(), true));
  if (network.outputs.empty()) return invalid_argument("the model has no outputs");
  if (network.inputs.empty()) return unsupported("the model has no inputs");
  return network;
}

Result<Network> read_file(const std::string& path) {
  ::onnx::ModelProto model;
  MILLRACE_RETURN_IF_ERROR(read_model_file(path, &model).status());
  return read_parsed(model, std::filesystem::path(path).parent_path());
}

}  // namespace

Result<Network> read_network(std::string_view content, const std::filesystem::path& directory) {
  ::onnx::ModelProto model;
  MILLRACE_RETURN_IF_ERROR(parse_model(content, &model));
  return read_parsed(model, directory);
}

Result<Network> read_network_file(const std::string& path) {
  Result<Network> network = read_file(path);
  if (!network.ok()) return network.status().with_context(path);
  return network;
}

}  // namespace millrace::compiler
