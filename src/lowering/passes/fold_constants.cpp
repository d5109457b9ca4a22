// Evaluates nodes with constant operands (evaluate()), in graph order, so that chains fold in one
// run. The work and the growth of the model are limited: nodes beyond the limits stay. A node with
// a quantised result is folded only if it moves integers and keeps their quantisation.
#include <fmt/format.h>

#include <algorithm>

#include "lowering/evaluate/evaluate.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// The most bytes by which folding may enlarge the constants, over all nodes: an archive should not
// become much larger than the model. A node that would exceed this stays.
constexpr size_t kMaxGrowthBytes = size_t{64} << 20;

bool reads_only_constants(const graph::Graph& graph, const Node& node) {
  return std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == kNoValue || graph.values[id].constant.has_value();
  });
}

bool is_identity(const Node& node) {
  const auto* unary = std::get_if<graph::Unary>(&node.op);
  return unary != nullptr && unary->function.kind == graph::UnaryKind::kIdentity;
}

std::vector<const graph::Value*> operands_of(const graph::Graph& graph, const Node& node) {
  std::vector<const graph::Value*> operands;
  for (ValueId id : node.inputs) {
    operands.push_back(id == kNoValue ? nullptr : &graph.values[id]);
  }
  return operands;
}

// Moves the integers of quantised constants, which keep their quantisation. kUnsupported if the
// node does more than that. (A Pad adds elements, so it is not among them.)
Result<graph::Value> move_integers(const graph::Graph& graph, const Node& node) {
  const graph::Value& output = graph.values[node.outputs[0]];
  if (!only_moves(node.op) || std::holds_alternative<graph::Pad>(node.op))
    return unsupported("its result is quantised");
  std::vector<const graph::Value*> operands = operands_of(graph, node);
  std::vector<graph::Value> integers;
  integers.reserve(operands.size());  // `operands` will point to the elements
  for (size_t i = 0; i < moved_operands(node); ++i) {
    if (operands[i]->type != output.type ||
        moved_quantisation(node.op, *operands[i]) != output.quantisation)
      return unsupported("its result is requantised");
    integers.push_back(*operands[i]);
    integers.back().quantisation.reset();
    operands[i] = &integers.back();
  }
  MILLRACE_ASSIGN_OR_RETURN(graph::Value result, evaluate(node.op, operands));
  result.quantisation = output.quantisation;
  return result;
}

Result<graph::Value> evaluate_node(const graph::Graph& graph, const Node& node) {
  if (graph.values[node.outputs[0]].quantisation) return move_integers(graph, node);
  return evaluate(node.op, operands_of(graph, node));
}

double work_of(const graph::Graph& graph, const Node& node) {
  const graph::Value& output = graph.values[node.outputs[0]];
  const graph::ValueType type{output.type, output.shape};
  return evaluation_work(node.op, operands_of(graph, node), {&type, 1});
}

// The bytes by which constants grow if the node is folded and its operands are dropped.
size_t growth(const graph::Graph& graph, const Node& node) {
  size_t operand_bytes = 0;
  for (ValueId id : node.inputs) {
    if (id != kNoValue) operand_bytes += graph.values[id].bytes();
  }
  const size_t bytes = graph.values[node.outputs[0]].bytes();
  return bytes - std::min(bytes, operand_bytes);
}

// Replaces the node by its constant result. A graph output must be made by a node, so there the
// node becomes an Identity of the constant.
void deliver_constant(Editor& editor, Editor::Index index, graph::Value constant) {
  const ValueId output = editor.node(index).outputs[0];
  if (!editor.is_graph_output(output)) {
    editor.erase(index);
    editor.graph().values[output].constant = std::move(constant.constant);
    return;
  }
  constant.name = editor.value(output).name + ".constant";
  const ValueId id = editor.graph().add_value(std::move(constant));
  editor.node(index).op = graph::Unary{};
  editor.set_inputs(index, {id});
}

}  // namespace

Status fold_constants(graph::Graph& graph, const PassContext& context) {
  Editor editor(graph);
  size_t bytes_left = kMaxGrowthBytes;
  FoldingBudget own;
  FoldingBudget& budget = context.budget != nullptr ? *context.budget : own;
  for (Editor::Index index : editor.nodes()) {
    const Node& node = editor.node(index);
    if (!reads_only_constants(graph, node)) continue;
    if (is_identity(node) && editor.is_graph_output(node.outputs[0])) continue;
    if (growth(graph, node) > bytes_left || !budget.take_work(work_of(graph, node))) continue;
    bytes_left -= growth(graph, node);
    Result<graph::Value> constant = evaluate_node(graph, node);
    if (constant.ok()) {
      deliver_constant(editor, index, *std::move(constant));
    } else if (constant.status().code() != StatusCode::kUnsupported) {
      return constant.status().with_context(
          fmt::format("node '{}' ({})", node.name, graph::name_of(node.op)));
    }
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
