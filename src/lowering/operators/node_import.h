// NodeImport: the context of a handler, which translates one ONNX node. It gives access to the
// node's operands and attributes, and adds operators to the graph under construction. For one
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  // `operands` has one entry per input that the node lists, kNoValue if it is left out. Names of
  // nodes and values that are added to the graph begin with `name`. The builder and the node must
  // outlive this.
  NodeImport(GraphBuilder& builder, const network::Node& node, std::string name, int opset,
             std::vector<ValueId> operands);

  const std::string& type() const { return node_.type; }
  int opset() const { return opset_; }
  size_t output_count() const { return node_.outputs.size(); }

  // Operands. Those that the operator table requires are present.
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

  // kUnsupported if the operand has elements and is no constant; it is then added to asked(), and
  // the handler is called again if its elements become known. A handler that can go on without the
  // elements calls is_constant() instead.
  Status require_constant(size_t index) const;
  // The operands whose elements the handler needs.
  const std::vector<ValueId>& asked() const { return asked_; }

  // The elements of an operand that must be a constant, converted to int64_t or float. Errors are
  // those of require_constant(), and kInvalidArgument for floating-point elements where integers
  // are expected, or if constant_float() finds other than one element.
  Result<graph::Dims> constant_ints(size_t index) const;
  Result<std::vector<float>> constant_floats(size_t index) const;
  Result<float> constant_float(size_t index) const;

  // Attributes; the default, or nothing, if the node does not have the attribute. An attribute of
  // the wrong kind counts as absent, and is the error of attribute_status(), which the caller of
  // the handler checks.
  int64_t int_attribute(const char* name, int64_t default_value);
  float float_attribute(const char* name, float default_value);
  std::string string_attribute(const char* name, const std::string& default_value);
  std::optional<graph::Dims> ints_attribute(const char* name);
  std::optional<std::vector<float>> floats_attribute(const char* name);
  std::optional<std::vector<std::string>> strings_attribute(const char* name);
  const graph::Value* tensor_attribute(const char* name);  // null if there is none
  bool has_attribute(const char* name) const;
  // kUnsupported if the node, of the default domain, has an attribute that its operator does not
  // have in kMaxOpset, and that a later version may have added.
  Status check_attributes() const;
  const Status& attribute_status() const { return attribute_status_; }

  // Adds an operator, or the constant that it computes (see GraphBuilder::emit()).
  Result<ValueId> emit(graph::Operator op, std::vector<ValueId> inputs);
  Result<ValueId> unary(graph::UnaryKind kind, ValueId x, float alpha = 0, float beta = 0);
  Result<ValueId> binary(graph::BinaryKind kind, ValueId a, ValueId b);
  Result<ValueId> reshape(ValueId x, graph::Dims shape);  // x itself if it has that shape
  Result<ValueId> reduce(graph::ReduceKind kind, ValueId x, graph::Dims axes, bool keep_dims);
  // Adds a fallback operator (see GraphBuilder::emit_fallback()), and returns its outputs.
  Result<std::vector<ValueId>> emit_fallback(graph::Fallback op, std::vector<ValueId> inputs,
                                             size_t outputs);
  // The members of an operand that must be a sequence; kInvalidArgument if it is none.
  Result<std::vector<ValueId>> sequence(size_t index) const;
  Result<ValueId> add_sequence(std::vector<ValueId> members);
  // Adds a constant that the handler computed from constants.
  Result<ValueId> add_computed(graph::Value constant);
  GraphBuilder& builder() { return builder_; }

  // Sets the value of output `index`, which is at least 1: the handler returns that of the first
  // output.
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

// A handler adds operators that compute the node to the graph, and returns the value of its first
// output. kUnsupported: a variant that is not supported, for which a fallback operator may exist.
// Any other error: the model is inconsistent.
using Handler = Result<ValueId> (*)(NodeImport& node);

using graph::normalise_axis;
// Returns the non-negative equivalents of the axes in ascending order; kInvalidArgument if an axis
// is out of range or occurs twice.
Result<graph::Dims> normalise_axes(const graph::Dims& axes, size_t rank);

}  // namespace millrace::lowering
