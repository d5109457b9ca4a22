// GraphBuilder: the graph under construction. Every operator added to it has its shape inferred at
// once, and is computed at once when all its operands are constants: so the chains of Shape, Gather
// and Concat that exporters leave behind never become nodes.
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
  // `model_bytes` limits how much is computed from constants (FoldingBudget). For `as_written` see
  // StageRequest.
  explicit GraphBuilder(size_t model_bytes, bool as_written = false);

  bool as_written() const noexcept { return as_written_; }

  const graph::Graph& graph() const noexcept { return graph_; }
  graph::Graph take() { return std::move(graph_); }

  graph::Value& value(graph::ValueId id) { return graph_.values[id]; }
  const graph::Value& value(graph::ValueId id) const { return graph_.values[id]; }

  // A graph input.
  graph::ValueId add_input(std::string name, tensor::DataType type, graph::Dims shape);
  // A constant that the model states.
  graph::ValueId add_constant(graph::Value constant);
  // A constant that was computed, against the bound: kUnsupported beyond it.
  Result<graph::ValueId> add_computed(graph::Value constant);
  // A list of values that the model treats as one. What stands for it is a value that no node may
  // read; members are looked up by it.
  // kUnsupported: a member is a sequence, or take_members() refuses.
  Result<graph::ValueId> add_sequence(std::string name, std::vector<graph::ValueId> members);
  // Counts members of sequences that are made or taken apart. kUnsupported when there are more
  // altogether than any model has: operators of a few bytes make long ones.
  Status take_members(size_t count);
  const std::vector<graph::ValueId>* sequence_of(graph::ValueId id) const;  // null: it is none
  // kUnsupported when another `bytes` of computed constants would pass the bound.
  Status check_computed(size_t bytes) const;
  // Returns the budget that is left for computing constants.
  FoldingBudget& budget() noexcept { return budget_; }

  // Adds a node with one output, or, within the budget, the constant that it computes. Either gets
  // the name `name`. Errors are those of the shape function.
  Result<graph::ValueId> emit(std::string name, graph::Operator op,
                              std::vector<graph::ValueId> inputs);

  // The same without computing anything: for graph outputs, which a node must make.
  Result<graph::ValueId> add_node(std::string name, graph::Operator op,
                                  std::vector<graph::ValueId> inputs);

  // Adds a Fallback with `outputs` outputs, or the constants they compute to, named "NAME/1" and so
  // on beyond the first. A constant that is dequantised stays a node, so that its integers are
  // there for the passes, unless all is wanted as it is written. Errors are those of its shape
  // function and, of constants, its kernel; the operands whose elements the shape function could
  // not go on without are added to `asked`.
  Result<std::vector<graph::ValueId>> emit_fallback(const std::string& name, graph::Fallback op,
                                                    std::vector<graph::ValueId> inputs,
                                                    size_t outputs,
                                                    std::vector<graph::ValueId>* asked);
  // The FLOAT32 constant for a constant that is dequantised by a node; other values as they are.
  Result<graph::ValueId> computed_if_constant(graph::ValueId id);
  bool is_made_by_node(graph::ValueId id) const { return makers_[id].has_value(); }
  // The index of the node that makes a value; nothing for inputs and constants.
  std::optional<size_t> maker_of(graph::ValueId id) const { return makers_[id]; }
  void add_output(graph::ValueId id) { graph_.outputs.push_back(id); }

 private:
  std::vector<const graph::Value*> operands(const std::vector<graph::ValueId>& ids) const;
  Status check_inference(const graph::Fallback& op, std::span<const graph::Value* const> operands);
  // The constant that the operator computes to; kNoValue where it stays a node.
  Result<graph::ValueId> fold(const std::string& name, const graph::Operator& op,
                              std::span<const graph::Value* const> operands);
  Result<std::vector<graph::ValueId>> compute_fallback(const std::string& name,
                                                       const graph::Fallback& op,
                                                       std::span<const fallback::TensorView> inputs,
                                                       std::span<const graph::ValueType> types);
  graph::ValueId add(graph::Value value, std::optional<size_t> maker);

  graph::Graph graph_;
  std::vector<std::optional<size_t>> makers_;  // one per value
  std::unordered_map<graph::ValueId, std::vector<graph::ValueId>> sequences_;
  size_t members_ = 0;  // taken by take_members()
  bool as_written_;
  FoldingBudget budget_;
};

}  // namespace millrace::lowering
