// GraphBuilder: the graph that a lowering constructs. It infers the shape of every operator when it
// is added, and folds it to a constant at once if all its operands are constants. Therefore chains
// of Shape, Gather and Concat, which exporters write for target shapes, never become nodes. The
// amount of folding is limited by a FoldingBudget. For one thread.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/graph.h"
#include "graph/shape.h"
#include "lowering/evaluate/folding_budget.h"

namespace millrace::lowering {

class GraphBuilder {
 public:
  // `model_bytes`, the size of the model's constants, determines the FoldingBudget. For
  // `as_written` see StageRequest.
  explicit GraphBuilder(size_t model_bytes, bool as_written = false);

  bool as_written() const noexcept { return as_written_; }

  const graph::Graph& graph() const noexcept { return graph_; }
  graph::Graph take() { return std::move(graph_); }

  graph::Value& value(graph::ValueId id) { return graph_.values[id]; }
  const graph::Value& value(graph::ValueId id) const { return graph_.values[id]; }

  graph::ValueId add_input(std::string name, tensor::DataType type, graph::Dims shape);
  // Adds a constant that the model states, which costs no budget.
  graph::ValueId add_constant(graph::Value constant);
  // Adds a computed constant, and takes its bytes from the budget; kUnsupported if too few are
  // left.
  Result<graph::ValueId> add_computed(graph::Value constant);
  // Adds a sequence of the ONNX standard: a list of values that the model treats as one value.
  // Returns a placeholder, which no node may read; sequence_of() returns its members. kUnsupported:
  // a member is a sequence itself, or take_members() fails.
  Result<graph::ValueId> add_sequence(std::string name, std::vector<graph::ValueId> members);
  // Counts the members of sequences that operators make or take apart. kUnsupported if the graph
  // has too many in all: a node of a few bytes could otherwise make any number of values.
  Status take_members(size_t count);
  // The members of a sequence; null for any other value.
  const std::vector<graph::ValueId>* sequence_of(graph::ValueId id) const;
  // kUnsupported if less than `bytes` of the budget for computed constants is left.
  Status check_computed(size_t bytes) const;
  // Returns the budget that is left for computing constants.
  FoldingBudget& budget() noexcept { return budget_; }

  // Adds a node with one output; or, if all operands are constants and the budget suffices, the
  // constant that it computes. Either gets the name `name`. Errors are those of the shape function
  // and of evaluate(), and kUnsupported if the constant is too large for the budget.
  Result<graph::ValueId> emit(std::string name, graph::Operator op,
                              std::vector<graph::ValueId> inputs);

  // Adds a node with one output, and never folds it: for graph outputs, which a node must make.
  Result<graph::ValueId> add_node(std::string name, graph::Operator op,
                                  std::vector<graph::ValueId> inputs);

  // Adds a Fallback with `outputs` outputs, or the constants that it computes. The outputs after
  // the first are named "NAME/1", "NAME/2" and so on. A collective stays a node, and so does,
  // unless as_written(), a dequantised constant (dequantises_constant()), so that the passes see
  // its integers. Errors are those of the shape function and, for constants, of the kernel. If the
  // shape function fails because it needs the elements of operands that are not constants, these
  // are added to `asked`.
  Result<std::vector<graph::ValueId>> emit_fallback(const std::string& name, graph::Fallback op,
                                                    std::vector<graph::ValueId> inputs,
                                                    size_t outputs,
                                                    std::vector<graph::ValueId>* asked);
  // Returns the FLOAT32 constant for the result of a DequantizeLinear of a constant, unless that is
  // more work than the budget allows, and `id` for any other value.
  Result<graph::ValueId> computed_if_constant(graph::ValueId id);
  bool is_made_by_node(graph::ValueId id) const { return makers_[id].has_value(); }
  // The index of the node that makes a value; nothing for inputs and constants.
  std::optional<size_t> maker_of(graph::ValueId id) const { return makers_[id]; }
  void add_output(graph::ValueId id) { graph_.outputs.push_back(id); }

 private:
  std::vector<const graph::Value*> operands(const std::vector<graph::ValueId>& ids) const;
  Status check_inference(const graph::Fallback& op, std::span<const graph::Value* const> operands);
  // Returns the constant that the operator computes; kNoValue if it has to stay a node.
  Result<graph::ValueId> fold(const std::string& name, const graph::Operator& op,
                              std::span<const graph::Value* const> operands);
  Result<std::vector<graph::ValueId>> compute_fallback(const std::string& name,
                                                       const graph::Fallback& op,
                                                       std::span<const fallback::TensorView> inputs,
                                                       std::span<const graph::ValueType> types);
  graph::ValueId add(graph::Value value, std::optional<size_t> maker);

  graph::Graph graph_;
  std::vector<std::optional<size_t>> makers_;  // by value: the index of the node that makes it
  std::unordered_map<graph::ValueId, std::vector<graph::ValueId>> sequences_;
  size_t members_ = 0;  // taken by take_members()
  bool as_written_;
  FoldingBudget budget_;
};

}  // namespace millrace::lowering
