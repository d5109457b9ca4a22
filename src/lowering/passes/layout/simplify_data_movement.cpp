// Merges chains of Transpose and of Reshape, makes a Reshape of each Transpose that leaves the
// elements where they are, and bypasses nodes that change nothing.
#include <algorithm>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Node;
using graph::Value;

bool all_equal(const Dims& dims, int64_t value) {
  return std::ranges::all_of(dims, [&](int64_t dim) { return dim == value; });
}

bool is_identity(const Dims& permutation) {
  return std::ranges::is_sorted(permutation);
}

// Whether the node's output is its first operand, unchanged. Operators of which that is never true
// take the template.
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
    return in.shape == out.shape && all_equal(op.step, 1);
  }
  bool operator()(const graph::Pad& op) const {
    return all_equal(op.begin, 0) && all_equal(op.end, 0);
  }
  bool operator()(const graph::Resize& op) const {
    return in.shape == out.shape &&
           std::ranges::all_of(op.scales, [](float scale) { return scale == 1.0f; });
  }
  bool operator()(const graph::Pool& op) const {
    return in.shape == out.shape && all_equal(op.kernel, 1) && all_equal(op.strides, 1) &&
           all_equal(op.pads_begin, 0) && all_equal(op.pads_end, 0);
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

// Whether a Transpose keeps the order of all dimensions of a size other than 1, so that the
// elements stay where they are in memory.
bool keeps_memory_order(const Dims& shape, const Dims& permutation) {
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
  if (!keeps_memory_order(editor.value(node.inputs[0]).shape, op->permutation)) return;
  node.op = graph::Reshape{editor.value(node.outputs[0]).shape};
}

void merge_reshapes(Editor& editor, Editor::Index index) {
  if (!std::holds_alternative<graph::Reshape>(editor.node(index).op)) return;
  const auto inner = editor.maker(editor.node(index).inputs[0]);
  if (!inner || !std::holds_alternative<graph::Reshape>(editor.node(*inner).op)) return;
  editor.set_inputs(index, {editor.node(*inner).inputs[0]});
}

void merge_transposes(Editor& editor, Editor::Index index) {
  auto* outer = std::get_if<graph::Transpose>(&editor.node(index).op);
  if (outer == nullptr) return;
  const auto* inner = editor.maker_as<graph::Transpose>(editor.node(index).inputs[0]);
  if (inner == nullptr) return;
  // Dimension i of the result is dimension inner[outer[i]] of the first operand.
  for (int64_t& from : outer->permutation) from = inner->permutation[from];
  const auto source = editor.maker(editor.node(index).inputs[0]);
  editor.set_inputs(index, {editor.node(*source).inputs[0]});
}

}  // namespace

Status simplify_data_movement(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  // In graph order, so that the makers of a node's operands are simplified before it.
  for (Editor::Index index : editor.nodes()) {
    // In this order, since a merged Transpose may be a Reshape, and what is merged may change
    // nothing.
    merge_transposes(editor, index);
    transpose_to_reshape(editor, index);
    merge_reshapes(editor, index);
    if (is_no_op(editor, index)) editor.bypass(index);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
