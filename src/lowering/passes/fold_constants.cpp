#include <fmt/format.h>

#include <algorithm>

#include "lowering/evaluate/evaluate.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Folding may not make an archive much larger than the model: a node that expands a small constant
// beyond this budget, over all nodes, stays.
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

Result<graph::Value> evaluate_node(const graph::Graph& graph, const Node& node) {
  std::vector<const graph::Value*> operands;
  for (ValueId id : node.inputs) {
    operands.push_back(id == kNoValue ? nullptr : &graph.values[id]);
  }
  return evaluate(node.op, operands);
}

// Bytes that the constants grow by when the node is folded.
size_t growth(const graph::Graph& graph, const Node& node) {
  size_t operand_bytes = 0;
  for (ValueId id : node.inputs) {
    if (id != kNoValue) operand_bytes += graph.values[id].bytes();
  }
  const size_t bytes = graph.values[node.outputs[0]].bytes();
  return bytes - std::min(bytes, operand_bytes);
}

// A graph output stays a node's work: an Identity hands it the constant.
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

Status fold_constants(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  size_t budget = kMaxGrowthBytes;
  for (Editor::Index index : editor.nodes()) {
    const Node& node = editor.node(index);
    if (!reads_only_constants(graph, node)) continue;
    if (is_identity(node) && editor.is_graph_output(node.outputs[0])) continue;
    if (growth(graph, node) > budget) continue;
    budget -= growth(graph, node);
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
