#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

constexpr size_t kResidual = 3;

bool is_add(const Node& node) {
  const auto* op = std::get_if<graph::Binary>(&node.op);
  return op != nullptr && op->kind == graph::BinaryKind::kAdd;
}

// Whether `sum`, a Conv's result plus `other`, may be computed by that Conv.
bool can_take_residual(Editor& editor, ValueId sum, ValueId other, ValueId output) {
  const auto* conv = editor.maker_as<graph::Conv>(sum);
  if (conv == nullptr || conv->activation.kind != graph::UnaryKind::kIdentity) return false;
  const Node& node = editor.node(*editor.maker(sum));
  if (node.input(kResidual) != kNoValue || node.input(kResidual + 1) != kNoValue) return false;
  const graph::Value& residual = editor.value(other);
  return editor.has_single_reader(sum) && !residual.constant &&
         residual.shape == editor.value(sum).shape && residual.shape == editor.value(output).shape;
}

// If two Convs are candidates, the later one adds: the other's result is ready by then, and the
// Conv moves the least.
std::optional<size_t> choose_conv(Editor& editor, const Node& add) {
  const ValueId a = add.inputs[0], b = add.inputs[1], output = add.outputs[0];
  const bool first = can_take_residual(editor, a, b, output);
  const bool second = can_take_residual(editor, b, a, output);
  if (first && second) return *editor.maker(a) > *editor.maker(b) ? 0 : 1;
  if (first) return 0;
  if (second) return 1;
  return std::nullopt;
}

}  // namespace

Status fuse_residual_add(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const Node add = editor.node(index);
    if (!is_add(add)) continue;
    const auto slot = choose_conv(editor, add);
    if (!slot) continue;
    const Editor::Index producer = *editor.maker(add.inputs[*slot]);
    // The Conv replaces the Add, because only there does the residual exist already.
    Node fused = editor.node(producer);
    // A copy: a reference to the constant would make it a symbol of the library.
    fused.inputs.resize(kResidual, ValueId{kNoValue});
    fused.inputs.push_back(add.inputs[1 - *slot]);
    editor.fuse(producer, index, std::move(fused));
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
