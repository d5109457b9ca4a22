// NodeImport: what the handler of an ONNX operator works with: the node's operands and attributes,
// and the graph that it adds operators to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/network/network.h"
#include "graph/shape.h"
#include "lowering/graph_builder.h"

namespace millrace::lowering {

using graph::kNoValue;
using graph::ValueId;

class NodeImport {
 public:
  // `operands` has one entry per input that the node lists, kNoValue where it leaves one out; what
  // the node adds to the graph has names that begin with `name`.
  NodeImport(GraphBuilder& builder, const network::Node& node, std::string name, int opset,
             std::vector<ValueId> operands);

  const std::string& type() const { return node_.type; }
  int opset() const { return opset_; }
  size_t output_count() const { return node_.outputs.size(); }

  // Operands. The operator table guarantees that the required ones are there.
  size_t operand_count() const { return operands_.size(); }
  const std::vector<ValueId>& operands() const { return operands_; }
  ValueId operand(size_t index) const {
    return index < operands_.size() ? operands_[index] : kNoValue;
  }
  bool has(size_t index) const { return operand(index) != kNoValue; }
  // Requirement: has(index).
  const graph::Value& value(size_t index) const { return builder_.value(operand(index)); }
  const graph::Dims& shape(size_t index) const { return value(index).shape; }
  bool is_constant(size_t index) const { return value(index).constant.has_value(); }

  // kUnsupported where the model computes the operand at run time, which is remembered in asked().
  // For what cannot go on without its elements: a handler that tries something else, or does the
  // same in another way, asks is_constant().
  Status require_constant(size_t index) const;
  // The operands without which the handler could not go on.
  const std::vector<ValueId>& asked() const { return asked_; }

  // The elements of an operand that must be a constant; kInvalidArgument where its type is another.
  Result<graph::Dims> constant_ints(size_t index) const;
  Result<std::vector<float>> constant_floats(size_t index) const;
  Result<float> constant_float(size_t index) const;  // one element, of any numeric type

  // Attributes: the default where the node has none. One of the wrong kind is remembered in
  // attribute_status(), and the default returned.
  int64_t int_attribute(const char* name, int64_t default_value);
  float float_attribute(const char* name, float default_value);
  std::string string_attribute(const char* name, const std::string& default_value);
  std::optional<graph::Dims> ints_attribute(const char* name);
  std::optional<std::vector<float>> floats_attribute(const char* name);
  std::optional<std::vector<std::string>> strings_attribute(const char* name);
  const graph::Value* tensor_attribute(const char* name);  // null where there is none
  bool has_attribute(const char* name) const;
  const Status& attribute_status() const { return attribute_status_; }

  // Adds an operator (see GraphBuilder::emit); the rest are shorthands for it.
  Result<ValueId> emit(graph::Operator op, std::vector<ValueId> inputs);
  Result<ValueId> unary(graph::UnaryKind kind, ValueId x, float alpha = 0, float beta = 0);
  Result<ValueId> binary(graph::BinaryKind kind, ValueId a, ValueId b);
  Result<ValueId> reshape(ValueId x, graph::Dims shape);  // x itself where it has that shape
  Result<ValueId> reduce(graph::ReduceKind kind, ValueId x, graph::Dims axes, bool keep_dims);
  // The outputs of an operator of src/fallback.
  Result<std::vector<ValueId>> emit_fallback(graph::Fallback op, std::vector<ValueId> inputs,
                                             size_t outputs);
  // The members of an operand that is a sequence; kInvalidArgument where it is none.
  Result<std::vector<ValueId>> sequence(size_t index) const;
  Result<ValueId> add_sequence(std::vector<ValueId> members);
  // A constant that the handler made from constants.
  Result<ValueId> add_computed(graph::Value constant);
  GraphBuilder& builder() { return builder_; }

  // Names an output beyond the first, whose value a handler returns.
  void set_output(size_t index, ValueId id);
  const std::vector<ValueId>& extra_outputs() const { return outputs_; }

 private:
  template <class T>
  const T* find(const char* name);
  std::string next_name();

  GraphBuilder& builder_;
  const network::Node& node_;
  std::string name_;
  int opset_;
  std::vector<ValueId> operands_;
  std::vector<ValueId> outputs_;  // by output index; [0] unused
  size_t emitted_ = 0;
  mutable std::vector<ValueId> asked_;
  Status attribute_status_;
};

// A handler adds what the node means to the graph and returns the value of its first output.
// kUnsupported: a variant that is not covered; anything else: the model is inconsistent.
using Handler = Result<ValueId> (*)(NodeImport& node);

using graph::normalise_axis;
// The same for a list, ascending; kInvalidArgument where one is named twice.
Result<graph::Dims> normalise_axes(const graph::Dims& axes, size_t rank);

}  // namespace millrace::lowering
