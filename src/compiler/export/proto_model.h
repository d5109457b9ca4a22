// ProtoModel: an ONNX model under construction: names, constants and nodes, in the order of the
// graph.
//
// A value of the graph has one name in the model, which stands for its elements as they are stored.
// If it is quantised, operators of the standard read the output of a DequantizeLinear instead. For
// one thread at a time.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace millrace::compiler {

// An attribute of a node, by its name.
struct ProtoAttribute {
  std::string name;
  graph::Attribute::Value value;
};

using ProtoAttributes = std::vector<ProtoAttribute>;

// Returns the number of an element type in the standard (TensorProto.DataType).
int element_number(tensor::DataType type);

class ProtoModel {
 public:
  // Begins a model with the inputs and outputs of `graph`, which must outlive the object. `opset`
  // is the operator set of the standard's domain.
  ProtoModel(const graph::Graph& graph, int opset);

  const graph::Value& value(graph::ValueId id) const { return graph_.values[id]; }
  int opset() const noexcept { return opset_; }

  // Returns the name of the elements of a value as they are stored. The first call for a constant
  // writes it. Empty for kNoValue.
  const std::string& stored(graph::ValueId id);
  // Returns the name of the real values with which an operator computes: dequantised, or widened to
  // FLOAT32, if the stored elements are something else.
  const std::string& numbers(graph::ValueId id);

  // Add a constant that the graph does not have, and return its name.
  std::string floats(graph::Dims shape, const std::vector<float>& elements);
  std::string integers(const graph::Dims& elements);  // INT64, of rank 1
  std::string constant(const graph::Value& value);

  // Names the nodes that are added next after `node`: the first gets its name, and others a suffix.
  void begin(const graph::Node& node) { node_name_ = &node.name; }
  // Adds a node with one output, in the domain of the standard, and returns the name of the output.
  // Empty operands at the end are left out.
  std::string add(std::string_view type, std::vector<std::string> operands,
                  const ProtoAttributes& attributes = {});
  // Adds a node of any domain with the given names of outputs. States the opset of a new domain.
  void add(std::string_view domain, std::string_view type, std::vector<std::string> operands,
           const std::vector<std::string>& outputs, const ProtoAttributes& attributes);
  // Adds a DequantizeLinear of a quantised value, and returns the name of its output.
  std::string dequantise(graph::ValueId id);
  // Gives the output of the last node the name of a value, whose stored elements it becomes.
  // Requirement: no node reads that output.
  void store(graph::ValueId id);
  // Adds a QuantizeLinear of `numbers` whose output is the stored elements of a value.
  void store_quantised(graph::ValueId id, const std::string& numbers);

  // Returns the model, which is complete once all nodes are added. Moves it out of the object.
  ::onnx::ModelProto finish();

 private:
  std::string unused_name(const std::string& wanted) { return unused(wanted, used_names_); }
  static std::string unused(const std::string& wanted, std::unordered_set<std::string>& used);
  void name_values();
  void declare(::onnx::ValueInfoProto* info, graph::ValueId id);
  std::string initializer(const std::string& name, const graph::Value& value);
  std::vector<std::string> quantisation_operands(const std::string& numbers, graph::ValueId id);

  const graph::Graph& graph_;
  const int opset_;
  ::onnx::ModelProto model_;
  const std::string* node_name_ = nullptr;
  std::unordered_set<std::string> used_names_;       // names of values
  std::unordered_set<std::string> used_node_names_;  // ONNX Runtime refuses duplicates
  std::unordered_set<std::string> domains_;
  std::vector<std::string> names_;  // by value
  std::vector<bool> written_;       // by value: whether it is a written constant
  std::unordered_map<graph::ValueId, std::string> numbers_;  // names of FLOAT32 forms
};

}  // namespace millrace::compiler
