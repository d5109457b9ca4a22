// An ONNX model that is being written: names, constants and nodes, in the order of the graph.
//
// A value of the graph has one name in the model, that of its elements as they are stored. Where it
// is quantised, what operators of the standard compute with is the output of a DequantizeLinear.
// An object belongs to one thread at a time.
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

// The number by which the standard calls an element type (TensorProto.DataType).
int element_number(tensor::DataType type);

class ProtoModel {
 public:
  // The inputs and outputs of `graph`, which must outlive the object, with their names. `opset` is
  // the operator set of the standard's domain.
  ProtoModel(const graph::Graph& graph, int opset);

  const graph::Value& value(graph::ValueId id) const { return graph_.values[id]; }
  int opset() const noexcept { return opset_; }

  // The name of the value's elements as they are stored; of a constant, which is written with the
  // first call. Empty for kNoValue.
  const std::string& stored(graph::ValueId id);
  // The name of the numbers that an operator computes with: dequantised, or widened to FLOAT32,
  // where what is stored is something else.
  const std::string& numbers(graph::ValueId id);

  // A constant of the model that is none of the graph's.
  std::string floats(graph::Dims shape, const std::vector<float>& elements);
  std::string integers(const graph::Dims& elements);  // INT64, of rank 1
  std::string constant(const graph::Value& value);

  // The nodes that follow are named after this one: the first as it is.
  void begin(const graph::Node& node) { node_name_ = &node.name; }
  // Adds a node of one output, and returns the output's name. Empty operands at the end are left
  // out.
  std::string add(std::string_view type, std::vector<std::string> operands,
                  const ProtoAttributes& attributes = {});
  // The same with the names of its outputs, of any domain.
  void add(std::string_view domain, std::string_view type, std::vector<std::string> operands,
           const std::vector<std::string>& outputs, const ProtoAttributes& attributes);
  // Adds a DequantizeLinear of a quantised value, and returns the name of its output.
  std::string dequantise(graph::ValueId id);
  // Makes the output of the last node the stored elements of a value. Requirement: no node reads
  // it.
  void store(graph::ValueId id);
  // Makes them by a QuantizeLinear of `numbers`.
  void store_quantised(graph::ValueId id, const std::string& numbers);

  // The model, complete once all nodes are added. Takes it out of the object.
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
  std::unordered_set<std::string> used_node_names_;  // ONNX Runtime refuses any twice
  std::unordered_set<std::string> domains_;
  std::vector<std::string> names_;                           // by value
  std::vector<bool> written_;                                // by value: constants that are
  std::unordered_map<graph::ValueId, std::string> numbers_;  // FLOAT32 forms of other stored values
};

}  // namespace millrace::compiler
