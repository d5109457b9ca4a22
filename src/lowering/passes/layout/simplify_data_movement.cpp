#include <algorithm>
#include <numeric>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Node;
using graph::Value;

bool all_are(const Dims& entries, int64_t number) {
  return std::ranges::all_of(entries, [&](int64_t entry) { return entry == number; });
}

bool is_identity(const Dims& permutation) {
  return std::ranges::is_sorted(permutation);
}

// Whether the node's output equals its first operand, element by element: one overload for each
// operator of which that can be true.
struct IsNoOp {
  const Node& node;
  const Value& in;
  const Value& out;

  bool operator()(const graph::Unary& op) const {
    return op.function.kind == graph::UnaryKind::kIdentity;
  }
  bool operator()(const graph::Reshape&) const { return in.shape == out.shape; }
  bool operator()(const graph::Expand&) const { return in.shape == out.shape; }
  bool operator()(const graph::Cast&) const { return in.type == out.type; }
  bool operator()(const graph::Concat&) const { return node.inputs.size() == 1; }
  bool operator()(const graph::Transpose& op) const { return is_identity(op.permutation); }
  bool operator()(const graph::Slice& op) const {
    return in.shape == out.shape && all_are(op.step, 1);
  }
  bool operator()(const graph::Pad& op) const { return all_are(op.begin, 0) && all_are(op.end, 0); }
  bool operator()(const graph::Resize& op) const {
    return in.shape == out.shape &&
           std::ranges::all_of(op.scales, [](float scale) { return scale == 1.0f; });
  }
  bool operator()(const graph::Pool& op) const {
    return in.shape == out.shape && all_are(op.kernel, 1) && all_are(op.strides, 1) &&
           all_are(op.pads_begin, 0) && all_are(op.pads_end, 0);
  }
  template <class Op>
  bool operator()(const Op&) const {
    return false;
  }
};

bool is_no_op(Editor& editor, Editor::Index index) {
  const Node& node = editor.node(index);
  if (node.inputs.empty() || node.inputs[0] == graph::kNoValue) return false;
  const Value& in = editor.value(node.inputs[0]);
  const Value& out = editor.value(node.outputs[0]);
  if (in.quantisation != out.quantisation) return false;
  return std::visit(IsNoOp{node, in, out}, node.op);
}

// Whether a Transpose keeps the order of all dimensions other than 1, and so moves no element in
// memory.
bool only_moves_ones(const Dims& shape, const Dims& permutation) {
  int64_t previous = -1;
  for (int64_t from : permutation) {
    if (shape[from] == 1) continue;
    if (from < previous) return false;
    previous = from;
  }
  return true;
}

void transpose_to_reshape(Editor& editor, Editor::Index index) {
  Node& node = editor.node(index);
  const auto* op = std::get_if<graph::Transpose>(&node.op);
  if (op == nullptr || is_identity(op->permutation)) return;
  if (!only_moves_ones(editor.value(node.inputs[0]).shape, op->permutation)) return;
  node.op = graph::Reshape{editor.value(node.outputs[0]).shape};
}

void merge_reshapes(Editor& editor, Editor::Index index) {
  if (!std::holds_alternative<graph::Reshape>(editor.node(index).op)) return;
  const auto source = editor.maker(editor.node(index).inputs[0]);
  if (!source || !std::holds_alternative<graph::Reshape>(editor.node(*source).op)) return;
  editor.set_inputs(index, {editor.node(*source).inputs[0]});
}

void merge_transposes(Editor& editor, Editor::Index index) {
  auto* outer = std::get_if<graph::Transpose>(&editor.node(index).op);
  if (outer == nullptr) return;
  const auto* inner = editor.maker_as<graph::Transpose>(editor.node(index).inputs[0]);
  if (inner == nullptr) return;
  for (int64_t& from : outer->permutation) from = inner->permutation[from];
  const auto source = editor.maker(editor.node(index).inputs[0]);
  editor.set_inputs(index, {editor.node(*source).inputs[0]});
}

}  // namespace

Status simplify_data_movement(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  // In graph order, so that the makers of a node's operands are simplified before it.
  for (Editor::Index index : editor.nodes()) {
    merge_transposes(editor, index);
    transpose_to_reshape(editor, index);
    merge_reshapes(editor, index);
    if (is_no_op(editor, index)) editor.bypass(index);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
